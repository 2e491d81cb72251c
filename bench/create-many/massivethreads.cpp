// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "create_many.hpp"

namespace tulle::bench {

benchmark const registered("create-many", "massivethreads", [](int argc, char** argv) {
    return create_many_main<massivethreads_runtime>(argc, argv);
});

} // namespace tulle::bench
