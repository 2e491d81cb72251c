// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "create_one.hpp"

int main(int argc, char** argv) { return tulle::bench::create_one_main<tulle::bench::omp_runtime>(argc, argv, {1'000'000, 50'000}); }
