// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/library/process_fork.hpp"

#include "compat/qthread/blocking/blocking.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/places.hpp"
#include "compat/qthread/threads/futures.hpp"
#include "compat/qthread/threads/task.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>

#include <pthread.h>

namespace tulle::compat {

namespace {

using at_fork = void (*)(fork_phase) noexcept;
constexpr at_fork k_parts[] = {io_workers_at_fork, futures_at_fork, places_at_fork};

// None of these takes a lock of another. Locks are left in the opposite order, as a part may take
// its own once more in the child.
void tell_parts(fork_phase phase) noexcept {
    if (phase == fork_phase::before)
        std::for_each(std::begin(k_parts), std::end(k_parts), [=](at_fork f) { f(phase); });
    else
        std::for_each(std::rbegin(k_parts), std::rend(k_parts), [=](at_fork f) { f(phase); });
}

// Of the qthreads that were alive the child has the one that called fork(2), if one did.
void go_on_in_child() noexcept {
    tell_parts(fork_phase::in_child);
    the().live_tasks.forget();
    the().waiting_tasks.store(0, std::memory_order_relaxed); // relaxed: a number for reports
    task* const me = self();
    if (me == nullptr) return;
    me->lender = -1; // it is not there
    if (!me->is_main) the().live_tasks.begin();
}

} // namespace

void expect_process_forks() {
    static int const s_error =
        pthread_atfork([] { tell_parts(fork_phase::before); },
                       [] { tell_parts(fork_phase::in_parent); }, [] { go_on_in_child(); });
    if (s_error != 0) throw std::bad_alloc();
}

} // namespace tulle::compat
