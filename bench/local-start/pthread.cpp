// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "local_start.hpp"

int main(int argc, char** argv) { return tulle::bench::local_start_main<tulle::bench::pthread_runtime>(argc, argv, {2'000, 200}); }
