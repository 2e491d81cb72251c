// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "uts.hpp"

int main(int argc, char** argv) { return tulle::bench::uts_main<tulle::bench::omp_runtime>(argc, argv); }
