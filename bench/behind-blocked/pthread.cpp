// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "behind_blocked.hpp"

int main(int argc, char** argv) { return tulle::bench::behind_blocked_main<tulle::bench::pthread_runtime>(argc, argv); }
