// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/cells.hpp"
#include "../common/libraries/tulle_blocking.hpp"
#include "full_empty.hpp"

int main(int argc, char** argv) {
    using cell = tulle::bench::object_cell;
    return tulle::bench::full_empty_main<tulle::bench::tulle_blocking_runtime, cell>(argc, argv, "tulle");
}
