// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "sleepers.hpp"

int main(int argc, char** argv) {
    return tulle::bench::sleepers_main<tulle::bench::tulle_compact_runtime>(argc, argv, {100'000, 1'000'000}, 5'000);
}
