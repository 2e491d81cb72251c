// SPDX-License-Identifier: Apache-2.0
#include "io/helpers.hpp"

#include "os/futex.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace tulle::io {

int helpers::run(void (*call)(void*) noexcept, void* argument,
                 wait::limit<parking> until) noexcept {
    if (!have_one()) {
        call(argument);
        return 0;
    }
    wait::wait_reason const reason{wait::wait_kind::helper, nullptr};
    auto const prepare = [&](job& self) {
        self.call = call;
        self.argument = argument;
    };
    if (until.is_none()) {
        job self;
        prepare(self);
        wait::park(reason, static_cast<wait::waiter<parking>&>(self), m_lock, [&] {
            enter(self);
            return true;
        });
        return 0;
    }
    wait::timed_waiter<parking, job> self(until);
    prepare(self);
    bool const is_done = wait::park_until(
        reason, self, m_lock, m_jobs,
        [&] {
            enter(self);
            return true;
        },
        [this] { --m_queued; });
    if (is_done) return 0;
    return self.load_state() == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
}

// False: there is none, and none can be started now. Nobody waits for one that starts another: it
// takes memory for that, and may be suspended where the program's allocator takes locks.
bool helpers::have_one() noexcept {
    if (!is_short()) return true;
    std::unique_lock const held(m_starting, std::try_to_lock);
    return !held.owns_lock() ? has_some() : !is_short() || start_one() || has_some();
}

bool helpers::is_short() noexcept {
    std::lock_guard const held(m_lock);
    return m_queued >= m_idle && m_count < k_most;
}

bool helpers::has_some() noexcept {
    std::lock_guard const held(m_lock);
    return m_count != 0;
}

// Only with m_starting held does m_count change.
bool helpers::start_one() noexcept {
    helper& next = m_helpers[m_count];
    next.owner = this;
    int const error = os::with_signals_blocked(
        [&next] { return os::start_thread(next.os_thread, &main_of, &next); });
    if (error != 0) return false;
    std::lock_guard const held(m_lock);
    ++m_count;
    return true;
}

void helpers::stop() noexcept {
    std::lock_guard const starting(m_starting);
    m_lock.lock();
    m_stops = true;
    m_calls.fetch_add(1, std::memory_order_relaxed); // relaxed: the lock orders it
    m_lock.unlock();
    os::futex_wake(m_calls, static_cast<int>(k_most));
    std::for_each_n(m_helpers.begin(), m_count, [](helper& h) {
        pthread_join(h.os_thread, nullptr);
        h.tid.store(0, std::memory_order_relaxed); // relaxed: it is gone
    });
    m_count = 0;
    m_stops = false;
}

void helpers::forget() noexcept {
    this->~helpers();
    ::new (static_cast<void*>(this)) helpers;
}

bool helpers::owns_os_thread(int tid) const noexcept {
    return std::any_of(m_helpers.begin(), m_helpers.end(), [tid](helper const& h) {
        return h.tid.load(std::memory_order_relaxed) == tid;
    });
}

// With the lock held.
void helpers::enter(job& j) noexcept {
    m_jobs.push_back(j);
    ++m_queued;
    if (m_idle == 0) return;
    m_calls.fetch_add(1, std::memory_order_relaxed); // relaxed: the lock orders it
    os::futex_wake(m_calls, 1);
}

// With the lock held. Null: none; or those that there were have reached their limits.
helpers::job* helpers::take() noexcept {
    while (wait::waiter<parking>* const first = m_jobs.first()) {
        m_jobs.unlink(*first);
        --m_queued;
        if (first->try_wake()) return static_cast<job*>(first);
    }
    return nullptr;
}

void* helpers::main_of(void* h) {
    auto& self = *static_cast<helper*>(h);
    os::set_name("tulle-call");
    self.tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: see owns_os_thread
    self.owner->serve();
    return nullptr;
}

void helpers::serve() noexcept {
    m_lock.lock();
    for (;;) {
        job* const j = take();
        if (j == nullptr && m_stops) break;
        if (j == nullptr) {
            rest();
            continue;
        }
        m_lock.unlock();
        auto const thread = j->thread;
        j->call(j->argument);
        parking::resume(thread); // the last access to the job
        m_lock.lock();
    }
    m_lock.unlock();
}

// With the lock held, which is released meanwhile.
void helpers::rest() noexcept {
    ++m_idle;
    std::uint32_t const seen = m_calls.load(std::memory_order_relaxed); // relaxed: as in enter
    m_lock.unlock();
    static_cast<void>(os::futex_wait(m_calls, seen));
    m_lock.lock();
    --m_idle;
}

} // namespace tulle::io
