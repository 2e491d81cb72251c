// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "idle.hpp"

int main(int argc, char** argv) { return tulle::bench::idle_main<tulle::bench::pthread_runtime>(argc, argv); }
