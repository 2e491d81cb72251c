// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "mutex_contended.hpp"

int main(int argc, char** argv) { return tulle::bench::mutex_contended_main<tulle::bench::pthread_runtime>(argc, argv); }
