// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "create_one.hpp"

namespace tulle::bench {

benchmark const registered("create-one", "massivethreads", [](int argc, char** argv) {
    return create_one_main<massivethreads_runtime>(argc, argv, {1'000'000, 50'000});
});

} // namespace tulle::bench
