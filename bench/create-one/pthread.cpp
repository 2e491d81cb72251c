// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_one.hpp"

int main(int argc, char** argv) { return tulle::bench::create_one_main<tulle::bench::pthread_runtime>(argc, argv, {10'000, 500}); }
