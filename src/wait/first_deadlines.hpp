// SPDX-License-Identifier: Apache-2.0
// The first deadline of each of some queues, for those who sleep until the first of all. A queue's
// holder publishes it with the queue's lock held; nobody else needs a lock.
//
// An inserter tells the sleepers only if its deadline is the first of all. That must not be
// missed:
//   inserter   publish; fence; scan all: is mine the first?
//   sleeper    announce itself; heavy fence; scan all; fence; scan again
// If the inserter sees an earlier deadline, which is removed right afterwards, the sleeper may have
// read the inserter's queue before and the other one after. So it scans until two scans agree: what
// they found was there at one time, but for what is inserted by those who then tell the sleeper.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tulle::wait {

inline constexpr std::uint64_t k_never = ~std::uint64_t{0};

template <class Machine, unsigned Queues> class first_deadlines {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // The caller holds the lock of queue k. relaxed: see above.
    void publish(unsigned k, std::uint64_t deadline) noexcept {
        if (of(k) != deadline) m_of[k].value.store(deadline, std::memory_order_relaxed);
    }
    // Called after publish(). False: somebody sleeps until an earlier one, or nobody does.
    [[nodiscard]] bool is_first_of_all(std::uint64_t deadline) const noexcept {
        Machine::fence_seq_cst();
        return deadline <= scan();
    }
    // relaxed: a hint.
    [[nodiscard]] std::uint64_t of(unsigned k) const noexcept {
        return m_of[k].value.load(std::memory_order_relaxed);
    }
    // k_never: there is none.
    [[nodiscard]] std::uint64_t first() const noexcept {
        std::uint64_t seen = scan();
        for (;;) {
            Machine::fence_seq_cst();
            std::uint64_t const again = scan();
            if (again == seen) return seen;
            seen = again;
        }
    }
    // Reads each queue's deadline once, which is not enough for a thread that then sleeps. relaxed:
    // the fences around it order it.
    [[nodiscard]] std::uint64_t scan() const noexcept {
        std::uint64_t least = k_never;
        for (auto const& s : m_of) least = std::min(least, s.value.load(std::memory_order_relaxed));
        return least;
    }

private:
    struct slot {
        atomic<std::uint64_t> value{k_never};
    };
    // They lie in one cache line, which changes only when the first timer of a queue does.
    std::array<slot, Queues> m_of;
};

} // namespace tulle::wait
