// SPDX-License-Identifier: Apache-2.0
// The activities of a place that wait in a clock. The first one calls the home and stays there
// until some of the place may go on: it leads. Those that come meanwhile are told to the home by
// one call at a time for all that have come since the last. Before it calls either lets others of
// the place come, if more of them were in the last phase. So a phase takes a message for each place
// and direction, however many of its activities take part.
//   INV-1  An activity is in the list from its arrival until it goes on; the last m_untold of them
//          are those that no call has taken along.
//   INV-2  Where one that the home knows waits, one leads, or is on its way to.
// Any thread of the place calls wait().
#pragma once

#include "base/intrusive_list.hpp"
#include "team/clock_core.hpp"

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace tulle::teams {

template <class Sync> class clock_arrivals {
public:
    // Returns the phase that has begun. Home: arrive(n), arrive_and_wait(n), as clock_core has them
    // for this place; note_phase(n), how many activities of this place were in a phase, and
    // last_phase(), that number or a guess. Throws what they throw; dead_place.
    template <class Home> std::uint64_t wait(Home const& home) {
        waiter self;
        std::unique_lock held(m_lock);
        m_waiters.push_back(self);
        ++m_present;
        ++m_untold;
        while (!self.is_over) go_on(held, home);
        held.unlock();
        if (self.failure) std::rethrow_exception(self.failure);
        if (self.dead >= 0) Sync::throw_dead_place(self.dead);
        return self.phase;
    }

private:
    struct waiter {
        waiter* next = nullptr;
        waiter* before = nullptr;
        bool is_over = false;
        std::uint64_t phase = 0;
        int dead = -1;
        std::exception_ptr failure;
    };
    using section = std::unique_lock<typename Sync::mutex>;

    template <class Home> void go_on(section& held, Home const& home) {
        if (!m_has_leader && m_told + m_untold > 0)
            lead(held, home);
        else if (m_is_leader_calling && m_untold != 0 && !m_is_telling)
            tell(held, home);
        else
            m_changed.wait(held);
    }
    template <class Home> void lead(section& held, Home const& home) { // INV-2
        m_has_leader = true;
        let_others_come(held, home);
        m_is_leader_calling = true;
        std::int64_t const brought = std::exchange(m_untold, 0);
        clock_release got;
        std::exception_ptr const failure =
            unlocked(held, [&] { got = home.arrive_and_wait(brought); });
        m_has_leader = m_is_leader_calling = false;
        if (!failure) {
            m_told += brought;
            let_go(got);
            home.note_phase(got.activities);
        } else if (brought != 0) {
            fail(brought, failure);
        } else {
            fail(std::exchange(m_told, 0), failure); // nobody can tell them any more
        }
        m_changed.notify_all();
    }
    template <class Home> void tell(section& held, Home const& home) {
        m_is_telling = true;
        while (m_untold != 0) {
            let_others_come(held, home);
            std::int64_t const brought = std::exchange(m_untold, 0);
            std::exception_ptr const failure = unlocked(held, [&] { home.arrive(brought); });
            if (failure)
                fail(brought, failure);
            else
                m_told += brought;
        }
        m_is_telling = false;
        if (!m_has_leader) m_changed.notify_all();
    }
    // As long as some do.
    template <class Home> void let_others_come(section& held, Home const& home) {
        std::int64_t const expected = home.last_phase();
        for (std::int64_t before = 0; m_present < expected && m_present != before;) {
            before = m_present;
            held.unlock();
            Sync::yield();
            held.lock();
        }
    }
    template <class Call> static std::exception_ptr unlocked(section& held, Call call) {
        held.unlock();
        std::exception_ptr failure;
        try {
            call();
        } catch (...) {
            failure = std::current_exception();
        }
        held.lock();
        return failure;
    }

    void let_go(clock_release const& got) {
        m_told -= got.activities; // the call that has told of some may still be on its way back
        for (std::int64_t k = 0; k < got.activities; ++k) {
            waiter* const first = m_waiters.pop_front();
            if (first == nullptr) return; // it has failed before
            --m_present;
            first->phase = got.phase;
            first->dead = got.dead;
            first->is_over = true;
        }
    }
    // The last ones before those of which no call has told: the home does not know one from the
    // other.
    void fail(std::int64_t activities, std::exception_ptr const& why) {
        waiter* at = m_waiters.last();
        for (std::int64_t k = 0; k < m_untold; ++k) at = at->before;
        for (std::int64_t k = 0; k < activities && at != nullptr; ++k) {
            waiter& failed = *at;
            at = at->before;
            m_waiters.remove(failed);
            --m_present;
            failed.failure = why;
            failed.is_over = true;
        }
        m_changed.notify_all();
    }

    typename Sync::mutex m_lock; // guards the rest
    typename Sync::condition m_changed;
    base::intrusive_list<&waiter::next, &waiter::before> m_waiters; // INV-1
    std::int64_t m_present = 0;                                     // in the list
    std::int64_t m_untold = 0;
    std::int64_t m_told = 0; // of which the home knows
    bool m_has_leader = false;
    bool m_is_leader_calling = false; // it takes along who comes before
    bool m_is_telling = false;
};

} // namespace tulle::teams
