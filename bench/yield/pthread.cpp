// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "yield.hpp"

int main(int argc, char** argv) { return tulle::bench::yield_main<tulle::bench::pthread_runtime>(argc, argv, {1'000'000, 50'000}); }
