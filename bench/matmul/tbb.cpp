// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "matmul.hpp"

int main(int argc, char** argv) { return tulle::bench::matmul_main<tulle::bench::tbb_runtime>(argc, argv); }
