// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/libc_sort.hpp"
#include "sort.hpp"

namespace tulle::bench {

benchmark const registered("sort", "libc", [](int argc, char** argv) {
    return sort_main("libc", sort_settings(argc, argv), libc_sort);
});

} // namespace tulle::bench
