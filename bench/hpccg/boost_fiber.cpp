// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "hpccg.hpp"

int main(int argc, char** argv) { return tulle::bench::hpccg_main<tulle::bench::boost_fiber_runtime>(argc, argv); }
