// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

TULLE_BENCH_CHECKS(fp_loads)
