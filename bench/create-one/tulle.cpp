// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "create_one.hpp"

namespace tulle::bench {

benchmark const registered("create-one", "tulle", [](int argc, char** argv) {
    return create_one_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench
