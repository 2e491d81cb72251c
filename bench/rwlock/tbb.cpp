// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "rwlock.hpp"

#include <oneapi/tbb/rw_mutex.h>

int main(int argc, char** argv) { return tulle::bench::rwlock_main<tulle::bench::tbb_runtime, oneapi::tbb::rw_mutex>(argc, argv); }
