// SPDX-License-Identifier: Apache-2.0
// A lock of OS threads that is held for a moment or for long. Whoever finds it free takes it, until
// some thread waits in turn: then that one has it next. Without turns a thread that takes the lock
// again and again, as one that spins on a word far away does, would keep it from all others: these
// sleep, and it is free for less time than it takes to wake them.
//   The first of the queue says that it wants the lock and sleeps while that is held; those behind
// it sleep on the number of whose turn it is. Whoever sees that the lock is wanted leaves it alone.
//   To unlock takes no locked instruction, behind which a processor would not begin what comes next
// before it has done all that came first: who wants the lock has the heavy fence instead.
//     holder  A1 held = 0; compiler barrier; A2 load wanted
//     waiter  B1 wanted = 1; heavy fence; B2 load held
// Either the holder sees at A2 that somebody wants the lock, and wakes it, or the waiter sees at B2
// that it is free.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>
#include <cstdint>
#include <limits>

namespace tulle::dsm {

// Machine: as os::machine.
template <class Machine> class basic_turn_lock {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // `asymmetric`: the machine has heavy_fence(). If not, the holder has a fence.
    explicit basic_turn_lock(bool asymmetric) noexcept : m_is_asymmetric(asymmetric) {}

    // False also while some thread waits in turn.
    [[nodiscard]] bool try_lock() noexcept {
        // relaxed: whoever has held it knows of the wish by A2, or, where the waiter has no heavy
        // fence, by the next A2
        if (TULLE_UNLIKELY(m_wanted.load(std::memory_order_relaxed) != 0)) return false;
        return take();
    }
    // Waits its turn; first come, first served.
    void lock_in_turn() noexcept {
        // relaxed: the turns order what holders do
        std::uint32_t const mine = m_next.fetch_add(1, std::memory_order_relaxed);
        // acquire: pairs with the store below
        for (std::uint32_t turn = 0; (turn = m_turn.load(std::memory_order_acquire)) != mine;)
            static_cast<void>(Machine::futex_wait(m_turn, turn));
        m_wanted.store(1, std::memory_order_relaxed); // B1; relaxed: the fence follows
        if (m_is_asymmetric) Machine::heavy_fence();
        // B2, where the system has a fence of its own before it looks again.
        while (!take()) static_cast<void>(Machine::futex_wait(m_held, 1));
        m_wanted.store(0, std::memory_order_relaxed);      // relaxed: the next store orders it
        m_turn.store(mine + 1, std::memory_order_release); // pairs with the load above
        Machine::futex_wake(m_turn, std::numeric_limits<int>::max());
    }
    void unlock() noexcept {
        m_held.store(0, std::memory_order_release); // A1; pairs with take
        m_is_asymmetric ? Machine::compiler_barrier() : Machine::fence_seq_cst();
        // A2; relaxed: ordered by the fences.
        if (TULLE_UNLIKELY(m_wanted.load(std::memory_order_relaxed) != 0))
            Machine::futex_wake(m_held, 1);
    }

    // The first of the queue waits. relaxed: a hint
    [[nodiscard]] bool is_wanted() const noexcept {
        return m_wanted.load(std::memory_order_relaxed) != 0;
    }

private:
    [[nodiscard]] bool take() noexcept {
        std::uint32_t free = 0;
        // acquire: pairs with unlock
        return m_held.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    bool const m_is_asymmetric;
    atomic<std::uint32_t> m_held{0};
    atomic<std::uint32_t> m_wanted{0}; // written by the one whose turn it is
    atomic<std::uint32_t> m_next{0};   // of the queue
    atomic<std::uint32_t> m_turn{0};
};

} // namespace tulle::dsm
