// SPDX-License-Identifier: Apache-2.0
// A range of iterations that one thread runs, in order, and others may take the end of.
//   [position, border) the owner's own   [border, end) shared
// The owner begins iterations of its own part with a store and a load (detail/loop_range.hpp). When
// that part is used up it takes some more of the shared one, under the lock. A thief takes from the
// shared part under the lock; if it is empty, it lowers `border`, makes every thread pass a full
// fence (membarrier), and reads `position` again, as a thief of the split deque does
// (deque/split_deque.hpp, with the papers).
// The owner calls open, take and take_cold; anyone may call the others. src/loop/README.md has the
// argument.
#pragma once

#include "base/assert.hpp"
#include "base/spin_lock.hpp"
#include "deque/split_deque.hpp"

#include <tulle/detail/loop_range.hpp>

#include <algorithm>
#include <cstdint>

namespace tulle::loop {

struct iterations {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
};

enum class steal_effort {
    shared_only, // costs the owner nothing
    with_fence   // interrupts the owner
};

// INV-1 under the lock, outside a thief's fence: what the owner has begun ends at or below
// `border`, and border <= end; or all is closed.
// INV-2 `border` rises only by its owner's hand. INV-3 an iteration leaves the range once: at the
// front by take, or at the end by steal.
template <class Machine>
class loop_range
    : public detail::basic_loop_front<typename deque::front_machine_of<Machine>::type> {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // `asymmetric`: the machine has heavy_fence(). If not, the owner's own part is only what it
    // begins at once.
    explicit loop_range(bool asymmetric) noexcept : m_asymmetric(asymmetric) {}

    // The owner fills its empty range. All is shared at first.
    void open(iterations all) noexcept {
        m_lock.lock();
        // relaxed: published by the lock, as all below
        this->position.store(all.begin, std::memory_order_relaxed);
        this->border.store(all.begin, std::memory_order_relaxed);
        m_end.store(all.end, std::memory_order_relaxed);
        m_lock.unlock();
    }

    // The owner calls this: the first iteration that it has not begun. relaxed: only the owner
    // writes it.
    [[nodiscard]] std::uint64_t begun() const noexcept {
        return this->position.load(std::memory_order_relaxed);
    }

    // The owner calls this after take(first, count) has failed. Returns the end of what it has
    // begun now, at most first + count; `first`: there is nothing.
    // `own`: so many from `first` on become its own, but not more than half of what is left.
    // relaxed, here and below: a thread that writes border and end has the lock; the owner alone
    // writes the position.
    [[nodiscard]] std::uint64_t take_cold(std::uint64_t first, std::uint64_t count,
                                          std::uint64_t own = 0) noexcept {
        m_lock.lock();
        std::uint64_t const end = m_end.load(std::memory_order_relaxed);
        std::uint64_t split = this->border.load(std::memory_order_relaxed);
        std::uint64_t const wanted = first + count;
        if (wanted > split && split < end) {
            std::uint64_t const batch =
                m_asymmetric ? first + std::min(own, (end - first + 1) / 2) : 0;
            split = std::min(end, std::max(wanted, batch));
            this->border.store(split, std::memory_order_relaxed);
        }
        std::uint64_t const last = std::max(first, std::min(wanted, split)); // below first: closed
        this->position.store(last, std::memory_order_relaxed);
        m_lock.unlock();
        return last;
    }

    // Anyone but the owner pins the range by this, so that it stays where it is, if nobody else
    // does at this moment. steal() releases it, and returns nothing where nothing was to be had in
    // this way.
    [[nodiscard]] bool try_pin() noexcept { return m_lock.try_lock(); }
    [[nodiscard]] iterations steal(steal_effort effort) noexcept {
        iterations taken = steal_shared();
        if (taken.empty() && effort == steal_effort::with_fence && m_asymmetric)
            taken = steal_own();
        m_lock.unlock();
        return taken;
    }

    // Anyone may call this: no more is begun, but for what the owner takes at this very moment.
    // relaxed: as in take_cold.
    void close() noexcept {
        m_lock.lock();
        this->border.store(0, std::memory_order_relaxed);
        m_end.store(0, std::memory_order_relaxed);
        m_lock.unlock();
    }

    // Hints, for anyone. relaxed: steal decides under the lock.
    [[nodiscard]] std::uint64_t size_hint() const noexcept {
        std::uint64_t const next = this->position.load(std::memory_order_relaxed);
        std::uint64_t const end = m_end.load(std::memory_order_relaxed);
        return end > next ? end - next : 0;
    }
    // relaxed: as in size_hint.
    [[nodiscard]] std::uint64_t shared_hint() const noexcept {
        std::uint64_t const split = this->border.load(std::memory_order_relaxed);
        std::uint64_t const end = m_end.load(std::memory_order_relaxed);
        return end > split ? end - split : 0;
    }

private:
    // Takes half of what is left, if so much is shared.
    // relaxed, here and in steal_own: under the lock, but for the position, which is a guess there.
    [[nodiscard]] iterations steal_shared() noexcept {
        std::uint64_t const split = this->border.load(std::memory_order_relaxed);
        std::uint64_t const end = m_end.load(std::memory_order_relaxed);
        if (split >= end) return {};
        // A guess is enough.
        std::uint64_t const next = std::min(split, this->position.load(std::memory_order_relaxed));
        std::uint64_t const count = std::min(end - split, (end - next + 1) / 2);
        m_end.store(end - count, std::memory_order_relaxed);
        return {end - count, end};
    }
    // Takes half of the owner's own part.
    [[nodiscard]] iterations steal_own() noexcept {
        std::uint64_t const split = this->border.load(std::memory_order_relaxed);
        // relaxed: a guess, read again below
        std::uint64_t const next = this->position.load(std::memory_order_relaxed);
        if (next >= split) return {};
        std::uint64_t const wanted = next + (split - next) / 2;
        this->border.store(wanted, std::memory_order_relaxed); // D1
        // The owner either has stored a higher position, seen at D2, or will see the split, at C2.
        Machine::heavy_fence();
        // D2; relaxed: ordered by the fence.
        std::uint64_t const seen = this->position.load(std::memory_order_relaxed);
        std::uint64_t const kept = std::clamp(seen, wanted, split);
        this->border.store(kept, std::memory_order_relaxed);
        m_end.store(kept, std::memory_order_relaxed);
        return {kept, split};
    }

    alignas(64) base::basic_spin_lock<Machine> m_lock; // guards split and end
    atomic<std::uint64_t> m_end{0};
    bool m_asymmetric;
};

} // namespace tulle::loop
