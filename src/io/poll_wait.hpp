// SPDX-License-Identifier: Apache-2.0
// A wait for one of several descriptors. The thread has a branch in the list of each, and whoever
// reports an event that a branch wants ends the wait that all of them share; the thread then takes
// all its branches back.
//   INV-1  a branch, and what it points to, is looked at with the lock of its list held only. So
//          once the thread has taken all branches back nobody knows its frame any more
#pragma once

#include "base/intrusive_list.hpp"
#include "wait/wait_list.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::io {

// In the frame of the thread that waits.
template <class Parking> class poll_wait {
public:
    poll_wait() noexcept = default;
    poll_wait(poll_wait const&) = delete;
    poll_wait& operator=(poll_wait const&) = delete;

    // Null: it is over already, or the thread is yet to find out. Otherwise the caller resumes that
    // one. INV-1
    [[nodiscard]] wait::waiter<Parking>* end() noexcept {
        std::lock_guard const held(m_guard);
        m_is_over.store(true);
        return m_self.pop_front();
    }
    // Suspends the caller, whose branches are in their lists, until end() is called, or was, or the
    // limit is reached: which of these it was.
    [[nodiscard]] wait::outcome wait(wait::wait_reason reason,
                                     wait::limit<Parking> until) noexcept {
        wait::timed_waiter<Parking> self(until);
        auto const enter = [&]() noexcept {
            if (m_is_over.load()) return false;
            m_self.push_back(self);
            return true;
        };
        return wait::park_until(reason, self, m_guard, m_self, enter, [] {}) ? wait::outcome::woken
                                                                             : self.load_state();
    }

private:
    typename Parking::lock m_guard; // guards the rest; taken after that of a list
    typename Parking::machine::template plain<bool> m_is_over{false};
    wait::wait_list<Parking> m_self; // the thread, once it is suspended
};

template <class Parking> struct poll_branch {
    template <class T> using plain = typename Parking::machine::template plain<T>;

    plain<poll_branch*> next{nullptr};
    plain<poll_branch*> prev{nullptr};
    poll_wait<Parking>* of = nullptr;
    std::uint32_t events = 0; // which it wants: EPOLLIN and so on
};

// The branches at one descriptor, whose lock the caller holds.
template <class Parking> class poll_list {
public:
    using branch = poll_branch<Parking>;

    [[nodiscard]] bool empty() const noexcept { return m_branches.empty(); }
    [[nodiscard]] std::uint32_t wanted() const noexcept {
        std::uint32_t all = 0;
        for (branch const& b : m_branches) all |= b.events;
        return all;
    }
    void add(branch& b) noexcept { m_branches.push_back(b); }
    void remove(branch& b) noexcept { m_branches.remove(b); }
    // Ends the waits that want one of these, and adds those that are to be resumed, without the
    // lock.
    void end(std::uint32_t happened, wait::woken_chain<Parking>& ended) noexcept {
        for (branch const& b : m_branches) {
            if ((b.events & happened) == 0) continue;
            if (wait::waiter<Parking>* const thread = b.of->end()) ended.add(*thread);
        }
    }

private:
    base::intrusive_list<&branch::next, &branch::prev> m_branches;
};

} // namespace tulle::io
