// SPDX-License-Identifier: Apache-2.0
// A lock of OS threads that is held for a moment or for long. Whoever finds it free takes it, until
// some thread waits in turn: then that one has it next. Without turns a thread that takes the lock
// again and again, as one that spins on a word far away does, would keep it from all others: these
// sleep, and it is free for less time than it takes to wake them.
//   The first of the queue says that it wants the lock (k_wanted) and sleeps on the word while that
// is held; those behind it sleep on the number of whose turn it is. While the lock is wanted and
// not held nobody but the first of the queue changes the word.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace tulle::dsm {

// Machine: as os::machine.
template <class Machine> class basic_turn_lock {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // False also while some thread waits in turn.
    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t free = 0;
        // acquire: pairs with unlock
        return m_word.compare_exchange_strong(free, k_held, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    // Waits its turn; first come, first served.
    void lock_in_turn() noexcept {
        // relaxed: the turns order what holders do
        std::uint32_t const mine = m_next.fetch_add(1, std::memory_order_relaxed);
        // acquire: pairs with the store below
        for (std::uint32_t turn = 0; (turn = m_turn.load(std::memory_order_acquire)) != mine;)
            static_cast<void>(Machine::futex_wait(m_turn, turn));
        // relaxed: unlock sees it, or the load below that it is free
        m_word.fetch_or(k_wanted, std::memory_order_relaxed);
        // acquire: pairs with unlock
        for (std::uint32_t word = 0;
             ((word = m_word.load(std::memory_order_acquire)) & k_held) != 0;)
            static_cast<void>(Machine::futex_wait(m_word, word));
        m_word.store(k_held, std::memory_order_relaxed);   // relaxed: nobody else changes it
        m_turn.store(mine + 1, std::memory_order_release); // pairs with the load above
        Machine::futex_wake(m_turn, std::numeric_limits<int>::max());
    }
    void unlock() noexcept {
        // release: pairs with try_lock and lock_in_turn
        if ((m_word.fetch_and(~k_held, std::memory_order_release) & k_wanted) != 0)
            Machine::futex_wake(m_word, 1);
    }

    // The first of the queue waits. relaxed: a hint
    [[nodiscard]] bool is_wanted() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_wanted) != 0;
    }

private:
    static constexpr std::uint32_t k_held = 1;
    static constexpr std::uint32_t k_wanted = 2;

    atomic<std::uint32_t> m_word{0};
    atomic<std::uint32_t> m_next{0}; // of the queue
    atomic<std::uint32_t> m_turn{0};
};

} // namespace tulle::dsm
