// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "fib.hpp"

int main(int argc, char** argv) { return tulle::bench::fib_main<tulle::bench::boost_fiber_runtime>(argc, argv, {22, 17}); }
