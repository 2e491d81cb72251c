// SPDX-License-Identifier: Apache-2.0
// Who sees to it that the first deadline of all is met: one of the workers that sleep, which wakes
// for it, or else a thread that is told. A deadline that is inserted while such a worker sleeps
// wakes nobody, nor does one whose inserter sleeps next.
//   inserter   publish the deadline; fence; K1 does a sleeper wake by then? Else it tells somebody,
//              or sees to it itself when it sleeps or finds work
//   sleeper    announce the sleep; fence; read the first deadline; take()
//   that wakes K2 leave(); fence; read the first deadline: it keeps it anew, or tells somebody
// Either K1 sees that nobody keeps the time any more, or K2 comes later, and the deadline is read
// behind it.
// A second one is of those that know of the deadline, and wake for it a while later than the first:
// a worker that leaves a deadline when it has found something to run may rely on either.
// The word is the time for which the one that keeps the time wakes. Whoever would wake sooner takes
// its place; the one before then sleeps on and has nothing to give up. Two that have had the same
// time may take each other's place for their own: then nobody seems to keep the time, and somebody
// is told in vain.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::park {

template <class Machine> class timekeeper {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // Called by a worker that has announced its sleep and read the first deadline since, with the
    // time for which it would wake. True: it keeps the time, and calls leave() with the same when
    // it is awake. relaxed, all: what a waker or a fence orders.
    [[nodiscard]] bool take(std::uint64_t until) noexcept {
        std::uint64_t before = m_until.load(std::memory_order_relaxed);
        while (until < before) {
            if (m_until.compare_exchange_strong(before, until, std::memory_order_relaxed,
                                                std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    // True: nobody keeps the time any more, so the caller sees to the deadlines that there are.
    [[nodiscard]] bool leave(std::uint64_t until) noexcept { // K2; relaxed: the fence
        if (!m_until.compare_exchange_strong(until, k_nobody, std::memory_order_relaxed,
                                             std::memory_order_relaxed))
            return false;
        Machine::fence_seq_cst();
        return true;
    }
    // K1: a worker that sleeps wakes by then, and reads the deadlines again. Called after a fence.
    [[nodiscard]] bool wakes_by(std::uint64_t deadline) const noexcept {
        return m_until.load(std::memory_order_relaxed) <= deadline;
    }
    // In a forked child, where there is one OS thread. relaxed for that reason.
    void forget() noexcept { m_until.store(k_nobody, std::memory_order_relaxed); }

private:
    static constexpr std::uint64_t k_nobody = ~std::uint64_t{0};

    atomic<std::uint64_t> m_until{k_nobody};
};

} // namespace tulle::park
