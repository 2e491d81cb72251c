// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "yield.hpp"

int main(int argc, char** argv) { return tulle::bench::yield_main<tulle::bench::boost_fiber_runtime>(argc, argv); }
