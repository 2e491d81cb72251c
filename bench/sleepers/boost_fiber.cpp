// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "sleepers.hpp"

int main(int argc, char** argv) { return tulle::bench::sleepers_main<tulle::bench::boost_fiber_runtime>(argc, argv, {100'000}, 2'000); }
