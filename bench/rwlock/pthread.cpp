// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "rwlock.hpp"

#include <shared_mutex>

int main(int argc, char** argv) { return tulle::bench::rwlock_main<tulle::bench::pthread_runtime, std::shared_mutex>(argc, argv); }
