// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "local_start.hpp"

int main(int argc, char** argv) { return tulle::bench::local_start_main<tulle::bench::boost_fiber_runtime>(argc, argv); }
