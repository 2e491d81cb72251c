// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "blocked.hpp"

int main(int argc, char** argv) { return tulle::bench::blocked_main<tulle::bench::boost_fiber_runtime>(argc, argv, {400'000, 20'000}); }
