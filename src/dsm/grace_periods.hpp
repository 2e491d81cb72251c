// SPDX-License-Identifier: Apache-2.0
// When no thread of a host uses a check any more that it made before some moment. A check holds
// until its thread next synchronises, so each thread has points where none of its own holds; a
// grace period ends when each has been at one since the period began. Periods are numbered; at most
// one runs, so that what begins meanwhile waits for the next.
//
// A thread that waits in the middle of a check keeps those that it has made before, though the OS
// thread below it runs others meanwhile and comes to such points. It says so: a period that began
// before the end of its wait ends no sooner than that, and than the OS thread on which it goes on
// has come to a point.
//
// One thread at a time calls this, and but for waits it does so where it holds no check itself.
//
// A period in which no other thread holds a check ends at once, and takes no heavy fence: a thread
// that comes from where it held none has a fence behind the store that says so, and one of the two
// sees the other.
//
// Source: McKenney and Slingwine, Read-Copy Update (1998), whose quiescent states the points are.
#pragma once

#include "dsm/checking_threads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::dsm {

// Machine has fence_seq_cst and heavy_fence (os::machine). Threads says where those are that run
// threads:
//   count()        how many there are; it may grow, as far as most()
//   caller()       which one calls; count() or more: one that nobody asks about
//   is_only_one()  whether the caller is the only one that ever checks
//   point_of(k)    a number that changes when it comes to such a point, or k_holds_no_check, behind
//                  which it has a seq_cst fence ahead of its next check; what it has done before
//                  happens before what comes behind an acquire fence
template <class Machine, class Threads> class grace_periods {
public:
    // Null: one thread alone uses the memory, and no period takes any time.
    explicit grace_periods(Threads* threads) // std::bad_alloc
        : m_threads(threads), m_points(threads != nullptr ? threads->most() : 0) {}

    [[nodiscard]] bool takes_time() const noexcept { return m_threads != nullptr; }

    // --- where it does
    // Nobody holds a check at this moment.
    [[nodiscard]] bool none_is_held() const noexcept {
        return m_waits == 0 && m_older_waits == 0 && m_threads->is_only_one();
    }
    // The number of the period that begin() begins.
    [[nodiscard]] std::uint64_t next() const noexcept { return m_ended + (m_runs ? 2 : 1); }
    // It ends no sooner than what was checked before this call is not used any more.
    void begin() noexcept {
        m_is_wanted = m_runs;
        if (!m_runs) start();
    }
    // All up to this one have ended. An acquire fence is to follow.
    [[nodiscard]] std::uint64_t last_ended() noexcept {
        if (!m_runs || !all_have_passed()) return m_ended;
        m_runs = false;
        ++m_ended;
        if (m_is_wanted) start();
        m_is_wanted = false;
        return m_ended;
    }

    // The caller holds checks, and lets others go on. The end is given what the begin has returned.
    [[nodiscard]] std::uint64_t begin_wait() noexcept {
        bool const is_older = m_runs && !has_passed(m_threads->caller());
        ++(is_older ? m_older_waits : m_waits);
        return is_older ? m_begun - 1 : m_begun;
    }
    void end_wait(std::uint64_t began) noexcept {
        if (began == m_begun) {
            --m_waits;
            return;
        }
        --m_older_waits; // the checks are older than the period that runs
        hold_checks(m_threads->caller());
    }

private:
    // Whoever has not come to a point yet sees, in the checks that it makes behind the next one,
    // what the caller has written before.
    void start() noexcept {
        m_runs = true;
        ++m_begun;
        m_older_waits = m_waits;
        m_waits = 0;
        Machine::fence_seq_cst(); // pairs with that of who comes from where it held no check
        if (note_points()) return;
        Machine::heavy_fence();
        static_cast<void>(note_points());
    }
    // False: somebody but the caller may hold a check.
    bool note_points() noexcept {
        bool none = true;
        m_count = m_threads->count();
        for (std::size_t k = 0; k < m_count; ++k) {
            bool const is_caller = k == m_threads->caller();
            m_points[k] = is_caller ? k_holds_no_check : m_threads->point_of(k);
            none &= m_points[k] == k_holds_no_check;
        }
        return none;
    }
    // Since the period that runs has begun.
    [[nodiscard]] bool has_passed(std::size_t number) const noexcept {
        return number >= m_count || m_points[number] == k_holds_no_check ||
               m_points[number] != m_threads->point_of(number);
    }
    // Older ones than the period that runs.
    void hold_checks(std::size_t number) noexcept {
        if (number >= m_threads->count()) return;
        while (m_count <= number) m_points[m_count++] = k_holds_no_check;
        m_points[number] = m_threads->point_of(number);
    }
    [[nodiscard]] bool all_have_passed() noexcept {
        m_points[m_threads->caller()] = k_holds_no_check;
        bool all = m_older_waits == 0;
        for (std::size_t k = 0; k < m_count; ++k) {
            std::uint64_t& point = m_points[k];
            if (point == k_holds_no_check) continue;
            if (m_threads->point_of(k) != point)
                point = k_holds_no_check;
            else
                all = false;
        }
        return all;
    }

    Threads* m_threads;
    std::vector<std::uint64_t> m_points; // where each was when the period began
    std::size_t m_count = 0;
    std::uint64_t m_ended = 0;
    std::uint64_t m_begun = 0;
    std::size_t m_waits = 0;       // by whose checks no period that runs is held up
    std::size_t m_older_waits = 0; // with checks older than the period that runs
    bool m_runs = false;
    bool m_is_wanted = false; // one more
};

} // namespace tulle::dsm
