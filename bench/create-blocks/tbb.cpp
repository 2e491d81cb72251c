// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "create_blocks.hpp"

int main(int argc, char** argv) { return tulle::bench::create_blocks_main<tulle::bench::tbb_runtime>(argc, argv); }
