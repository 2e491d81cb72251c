// SPDX-License-Identifier: Apache-2.0
// How a worker goes on without asking the loop what comes next.
#pragma once

#include "sched/find_work.hpp"
#include "sched/worker.hpp"

namespace tulle::sched {

// By whoever takes something up without find_work: now and then the next to ask is the loop, which
// then probes for other work first.
TULLE_INLINE void note_decision(worker& w) noexcept {
    if (TULLE_UNLIKELY(w.decisions.advance() % k_decisions_per_probe == 0)) w.probe_due = true;
}

// A thread of the ready queue that can be switched to at once; null: ask the loop.
[[nodiscard]] TULLE_INLINE fiber* next_fiber(worker& w) noexcept {
    note_decision(w);
    if (TULLE_UNLIKELY(w.probe_due)) return nullptr;
    return static_cast<fiber*>(w.ready.pop_if(runnable_kind::fiber));
}

} // namespace tulle::sched
