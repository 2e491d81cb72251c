// SPDX-License-Identifier: Apache-2.0
// A limited wait at a word that knows one waiter at a time: a signal, or a thread that is joined.
// The word needs no lock, so a waker may resume the waiter while its limit is still being started:
// the waiter then stays until the start is over.
#pragma once

#include "wait/limit_timer.hpp"
#include "wait/wait_kind.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::wait {

// Entry: how the caller gets into the word and out of it.
//   bool enter(handle)     stores the waiter in the word. False: there is no need to wait
//   bool withdraw(handle)  takes it out. False: a waker has found it, and resumes it
template <class Parking, class Entry> class sole_waiter : limit_timer<Parking> {
    using machine = typename Parking::machine;

public:
    sole_waiter(Entry& entry, limit<Parking> until) noexcept
        : limit_timer<Parking>(until, &end_wait), m_entry(entry) {}

    // False: the limit has ended the wait.
    [[nodiscard]] bool wait(wait_reason reason) noexcept {
        Parking::set_wait(m_thread, reason);
        Parking::suspend(&post, this, nullptr);
        while (m_started.load(std::memory_order_acquire) == 0) Parking::relax(); // pairs with post
        this->stop();
        return !m_has_ended;
    }

private:
    // Runs on the context that comes next. If the waiter stays suspended, the store is the last
    // access to its frame.
    static void post(void* argument, void*) noexcept {
        auto& self = *static_cast<sole_waiter*>(argument);
        auto const thread = self.m_thread;
        bool const waits = self.m_entry.enter(thread);
        if (waits) self.start();
        self.m_started.store(1, std::memory_order_release); // pairs with the acquire in wait
        if (!waits) Parking::resume(thread);
    }
    static void end_wait(limit_timer<Parking>& by, outcome /*why*/) noexcept {
        auto& self = static_cast<sole_waiter&>(by);
        auto const thread = self.m_thread;
        if (!self.m_entry.withdraw(thread)) return;
        self.m_has_ended = true;
        Parking::resume(thread);
    }

    Entry& m_entry;
    typename Parking::handle m_thread = Parking::self();
    bool m_has_ended = false; // by the limit
    typename machine::template atomic<std::uint32_t> m_started{0};
};

} // namespace tulle::wait
