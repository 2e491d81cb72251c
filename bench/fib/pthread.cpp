// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "fib.hpp"

int main(int argc, char** argv) { return tulle::bench::fib_main<tulle::bench::pthread_runtime>(argc, argv, {16, 12}); }
