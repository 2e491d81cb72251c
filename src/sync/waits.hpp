// SPDX-License-Identifier: Apache-2.0
// The primitives are written in the words of wait/: waiters, lists of them, limits and outcomes.
#pragma once

#include "wait/sole_waiter.hpp"
#include "wait/wait_list.hpp"

namespace tulle::sync {

using wait::await_release;
using wait::limit;
using wait::limit_timer;
using wait::outcome;
using wait::park;
using wait::park_until;
using wait::sole_waiter;
using wait::timed_waiter;
using wait::wait_batch;
using wait::wait_list;
using wait::waiter;
using wait::woken_chain;

} // namespace tulle::sync
