// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/libc_sort.hpp"
#include "sort_sizes.hpp"

namespace tulle::bench {

benchmark const registered("sort-sizes", "libc", [](int argc, char** argv) {
    return sort_sizes_main("libc", sort_sizes_settings(argc, argv), libc_sort);
});

} // namespace tulle::bench
