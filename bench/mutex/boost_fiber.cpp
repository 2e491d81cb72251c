// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "mutex.hpp"

int main(int argc, char** argv) { return tulle::bench::mutex_main<tulle::bench::boost_fiber_runtime>(argc, argv); }
