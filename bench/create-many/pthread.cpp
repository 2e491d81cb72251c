// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_many.hpp"

int main(int argc, char** argv) { return tulle::bench::create_many_main<tulle::bench::pthread_runtime>(argc, argv, {8'000, 500}); }
