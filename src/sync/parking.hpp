// SPDX-License-Identifier: Apache-2.0
// The environment of the primitives outside model tests: they wait as threads of the scheduler.
#pragma once

#include "sched/parking.hpp"

namespace tulle::sync {

using sched::parking;

} // namespace tulle::sync
