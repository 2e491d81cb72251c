// SPDX-License-Identifier: Apache-2.0
// A word in which an OS thread that waits sleeps until it is resumed. It is resumed once for each
// wait; the next wait is published to its waker after the word has been reset, so no resumption is
// lost. Who has not gone to sleep yet is resumed without a call of the system, which would take
// the waker longer than the waiter needs to make the next work: that it sleeps, and that it is
// resumed, are changes of one word, of which the later one sees the earlier one.
//
// A waiter may watch a deadline that others bring forward while it sleeps:
//   waiter   W1 watch(); W2 read the deadline   |   setter   S1 store the deadline; S2 tell()
// A full fence lies between the two steps of each, so either the waiter reads the new deadline or
// the setter sees that somebody watches. What is set later, the setter tells in the word, which the
// waiter acquires before it reads the deadline again.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::park {

// Bits: it has been resumed; it watches a deadline; it has been told to read the deadline again,
// which is set only while it watches; and it sleeps, or is about to.
template <class Machine> class resume_word {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // The waker calls this. Nothing is read afterwards: a waiter that saw the store may be gone.
    void resume() noexcept {
        // pairs with is_resumed()
        std::uint32_t const before = m_word.exchange(k_resumed, std::memory_order_release);
        if ((before & k_sleeps) != 0) Machine::futex_wake(m_word, 1);
    }

    // The waiter calls this. acquire pairs with resume(): what the waker did before is visible.
    [[nodiscard]] bool is_resumed() const noexcept {
        return (m_word.load(std::memory_order_acquire) & k_resumed) != 0;
    }
    // Sleeps until it is resumed, or ends for no reason. False: the deadline (ns, monotonic) has
    // passed.
    [[nodiscard]] bool sleep(std::uint64_t deadline) noexcept { return sleep(0, deadline); }
    // The waiter resets the word after it was resumed. relaxed: the next resumption comes after the
    // next publication.
    void reset() noexcept { m_word.store(0, std::memory_order_relaxed); }

    // The waiter begins to watch, once for a wait: W1. relaxed: the fence orders it.
    void watch() noexcept {
        m_word.fetch_or(k_watches, std::memory_order_relaxed);
        Machine::fence_seq_cst();
    }
    // A waiter that watches calls this each time before it reads the deadline. acquire pairs with
    // tell().
    void begin_reading() noexcept { m_word.fetch_and(~k_told, std::memory_order_acquire); }
    // sleep() for a waiter that watches: it ends also when another deadline has been told.
    [[nodiscard]] bool sleep_watching(std::uint64_t deadline) noexcept {
        return sleep(k_watches, deadline);
    }
    // Anyone who has brought a deadline forward calls this: S2. relaxed: the fence orders the load.
    void tell() noexcept {
        Machine::fence_seq_cst();
        std::uint32_t seen = m_word.load(std::memory_order_relaxed);
        while ((seen & k_watches) != 0) {
            // relaxed, both: the fence pairs with begin_reading(), and where it fails the loop
            // reads the word again.
            if (!m_word.compare_exchange_weak(seen, seen | k_told, std::memory_order_relaxed,
                                              std::memory_order_relaxed))
                continue;
            if ((seen & k_sleeps) != 0) Machine::futex_wake(m_word, 1);
            return;
        }
    }

    // A hint, for anyone. relaxed: nothing is read on its strength.
    [[nodiscard]] bool looks_resumed() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_resumed) != 0;
    }

private:
    // Nothing has happened as long as the word is `awaits`, and that it sleeps. relaxed: whoever
    // changes the word sees it, or is seen by the system's look at it.
    bool sleep(std::uint32_t awaits, std::uint64_t deadline) noexcept {
        m_word.fetch_or(k_sleeps, std::memory_order_relaxed);
        return Machine::futex_wait(m_word, awaits | k_sleeps, deadline);
    }

    static constexpr std::uint32_t k_resumed = 1;
    static constexpr std::uint32_t k_watches = 2;
    static constexpr std::uint32_t k_told = 4;
    static constexpr std::uint32_t k_sleeps = 8;

    atomic<std::uint32_t> m_word{0}; // futex
};

} // namespace tulle::park
