// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "behind_busy.hpp"

int main(int argc, char** argv) { return tulle::bench::behind_busy_main<tulle::bench::pthread_runtime>(argc, argv); }
