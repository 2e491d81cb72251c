// SPDX-License-Identifier: Apache-2.0
// How far a place has come in the barriers of all places, for those that share memory with it. Who
// waits looks there, and has a message sent when it will not look any longer. It lies in memory
// that processes share. Points are counted upwards; a place may leave out some.
//   place   A1 store the point it has come to; fence; A2 take the note of who waits for this very
//           point, and write to that one
//   other   B1 look; B2 leave a note; fence; B3 look again, and take the note back if the place has
//           come by now
// Either the place finds the note at A2, or B3 sees that it has come. If both happen, who takes the
// note decides whether there will be a message.
// A2 follows each A1, so a note for an earlier point is one that its writer takes back.
#pragma once

#include "base/atomic.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::net {

enum class sight {
    not_come,
    has_come,
    writes, // to each that waits for this point, unasked
};

template <class Machine> class alignas(64) arrivals {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    static constexpr std::size_t k_waiters = 15;

    // --- by the place itself, one thread at a time -----------------------------------------------
    // A1
    // Pairs with look.
    void come_to(std::uint64_t point) noexcept {
        m_come.store(point * k_one_point, std::memory_order_release);
    }
    void before_notes() noexcept { Machine::fence_seq_cst(); }
    // A2, after come_to() and before_notes(). True: this waiter is to be sent a message.
    [[nodiscard]] bool take_note(std::size_t waiter, std::uint64_t point) noexcept {
        // relaxed, both: ordered by the fence; what the waiter is to see it learns from the
        // message.
        return m_notes[waiter].load(std::memory_order_relaxed) == point && take(waiter, point);
    }
    // It comes to no further point, and writes messages instead.
    void write_from_now_on() noexcept {
        // relaxed, both: it is its own; the fence after come_to() has published the points that it
        // has come to.
        m_come.store(m_come.load(std::memory_order_relaxed) | k_writes, std::memory_order_relaxed);
    }
    [[nodiscard]] bool writes() const noexcept {
        return (m_come.load(std::memory_order_relaxed) & k_writes) != 0;
    } // relaxed: it is its own

    // --- by another ------------------------------------------------------------------------------
    // B1. Memory ordering: what happens before the place comes to a point happens before this sees
    // it.
    [[nodiscard]] sight look(std::uint64_t point) const noexcept {
        std::uint64_t const come = m_come.load(std::memory_order_acquire); // pairs with come_to
        if (come / k_one_point >= point) return sight::has_come;
        return (come & k_writes) != 0 ? sight::writes : sight::not_come;
    }
    // B2 and B3, by one thread at a time for each number of a waiter. True: a message will come.
    // False: the place has come.
    [[nodiscard]] bool leave_note(std::size_t waiter, std::uint64_t point) noexcept {
        m_notes[waiter].store(point, std::memory_order_relaxed); // relaxed: ordered by the fence
        Machine::fence_seq_cst();
        return look(point) != sight::has_come || !take(waiter, point);
    }

private:
    static constexpr std::uint64_t k_writes = 1;
    static constexpr std::uint64_t k_one_point = 2;

    // relaxed: the exchange only decides, and a later note comes after the message about this one.
    [[nodiscard]] bool take(std::size_t waiter, std::uint64_t point) noexcept {
        return m_notes[waiter].compare_exchange_strong(point, 0, std::memory_order_relaxed,
                                                       std::memory_order_relaxed);
    }

    atomic<std::uint64_t> m_come{0};
    atomic<std::uint64_t> m_notes[k_waiters]{}; // the points that they wait for; 0: none
};

using shared_arrivals = arrivals<base::machine>;

} // namespace tulle::net
