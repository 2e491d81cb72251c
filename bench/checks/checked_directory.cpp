// SPDX-License-Identifier: Apache-2.0
// All checks, as DSZOOM has them.
#include "checks.hpp"

#include "entries.h"

TULLE_BENCH_CHECKS(directory)
