// SPDX-License-Identifier: Apache-2.0
// A barrier for processes that may share processors. Each arrival is counted under a spin lock; the
// last one begins the next round. Who is not the last looks for a while whether the round is over,
// and then either sees that it is, under the lock, or is in the list of those that are told. The
// same object counts the subscripts of a loop that ends with a barrier.
#pragma once

#include "base/spin_lock.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::parmacs {

// Entry: a lock_entry, of whose list `after` is the next one. Zero bytes are a barrier at which
// nobody is.
template <class Machine, class Entry> class barrier_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    struct arrival {
        bool is_last;
        Entry* to_tell;      // by the last one; each that follows, too
        std::uint32_t round; // for the others
    };

    [[nodiscard]] arrival arrive(std::int64_t processes) noexcept {
        return arrive(processes, [](std::uint32_t /*round*/) {});
    }
    // Calls first(round) before anybody may go on.
    template <class F> [[nodiscard]] arrival arrive(std::int64_t processes, F first) noexcept {
        section const held(m_lock);
        std::uint32_t const round = m_round.load(std::memory_order_relaxed); // relaxed: locked
        first(round);
        if (m_arrived.load() + 1 < processes) {
            m_arrived.store(m_arrived.load() + 1);
            return {false, nullptr, round};
        }
        m_arrived.store(0);
        m_subscript.store(0);
        auto* const all = m_first.load();
        m_first.store(nullptr);
        m_round.store(round + 1, std::memory_order_release); // pairs with is_over
        return {true, all, round};
    }
    [[nodiscard]] bool is_over(std::uint32_t round) const noexcept {
        return m_round.load(std::memory_order_acquire) != round; // pairs with arrive
    }
    // Changes when it is over; another value than the round then.
    [[nodiscard]] atomic<std::uint32_t>& word() noexcept { return m_round; }
    // True: the entry is in the list, and is told. Otherwise the round is over.
    [[nodiscard]] bool enter(std::uint32_t round, Entry& own) noexcept {
        section const held(m_lock);
        if (m_round.load(std::memory_order_relaxed) != round) return false; // relaxed: locked
        own.after.store(m_first.load());
        m_first.store(&own);
        return true;
    }
    // False: those up to `most` have all been taken in this round.
    [[nodiscard]] bool take_subscript(std::int64_t most, std::int64_t& subscript) noexcept {
        section const held(m_lock);
        subscript = m_subscript.load();
        if (subscript > most) return false;
        m_subscript.store(subscript + 1);
        return true;
    }

private:
    base::basic_spin_lock<Machine> m_lock; // guards the rest, but for looks at the round
    atomic<std::uint32_t> m_round{0};
    plain<std::int64_t> m_arrived{0};
    plain<std::int64_t> m_subscript{0}; // the next one
    plain<Entry*> m_first{nullptr};
};

} // namespace tulle::parmacs
