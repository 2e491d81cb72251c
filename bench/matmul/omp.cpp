// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "matmul.hpp"

int main(int argc, char** argv) { return tulle::bench::matmul_main<tulle::bench::omp_runtime>(argc, argv); }
