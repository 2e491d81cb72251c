// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_blocks.hpp"

int main(int argc, char** argv) { return tulle::bench::create_blocks_main<tulle::bench::pthread_runtime>(argc, argv); }
