// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "rwlock.hpp"

int main(int argc, char** argv) { return tulle::bench::rwlock_main<tulle::bench::tulle_blocking_runtime, tulle::shared_mutex>(argc, argv); }
