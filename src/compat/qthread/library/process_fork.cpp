// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/library/process_fork.hpp"

#include "compat/qthread/blocking/blocking.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/places.hpp"
#include "compat/qthread/threads/futures.hpp"
#include "compat/qthread/threads/task.hpp"

#include <atomic>
#include <new>

#include <pthread.h>

namespace tulle::compat {

namespace {

// None of these takes a lock of another.
void tell_parts(fork_phase phase) noexcept {
    io_workers_at_fork(phase);
    futures_at_fork(phase);
    places_at_fork(phase);
    blocking_at_fork(phase);
}

// Of the qthreads that were alive the child has the one that called fork(2), if one did.
void go_on_in_child() noexcept {
    tell_parts(fork_phase::in_child);
    the().live_tasks.forget();
    the().waiting_tasks.store(0, std::memory_order_relaxed); // relaxed: a number for reports
    task const* const me = self();
    if (me != nullptr && !me->is_main) the().live_tasks.begin();
}

} // namespace

void expect_process_forks() {
    static int const s_error =
        pthread_atfork([] { tell_parts(fork_phase::before); },
                       [] { tell_parts(fork_phase::in_parent); }, [] { go_on_in_child(); });
    if (s_error != 0) throw std::bad_alloc();
}

} // namespace tulle::compat
