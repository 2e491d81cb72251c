// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "sleepers.hpp"

int main(int argc, char** argv) { return tulle::bench::sleepers_main<tulle::bench::pthread_runtime>(argc, argv, {8'000}, 500); }
