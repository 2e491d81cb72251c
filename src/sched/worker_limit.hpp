// SPDX-License-Identifier: Apache-2.0
// How many workers are wanted: those whose index is below it may run threads, the others stand by
// and sleep until it changes. The low half of the word is the limit; the high half counts changes,
// so that a change of something else that was written before is one of the word, too.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

namespace tulle::sched {

template <class Machine> class worker_limit {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // --- anyone ----------------------------------------------------------------------------------
    // acquire pairs with change(): what was written before the change is visible.
    [[nodiscard]] std::uint32_t read() const noexcept {
        return m_word.load(std::memory_order_acquire);
    }
    [[nodiscard]] static int number_in(std::uint32_t seen) noexcept {
        return static_cast<int>(seen & k_number);
    }
    // Waits until the limit is no longer as seen. False: the deadline (ns, monotonic) has passed.
    bool wait_for_change(std::uint32_t seen, std::uint64_t deadline) noexcept {
        return Machine::futex_wait(m_word, seen, deadline);
    }

    // --- one thread at a time --------------------------------------------------------------------
    // relaxed, both: written by the same, or under the same lock.
    [[nodiscard]] int number() const noexcept {
        return number_in(m_word.load(std::memory_order_relaxed));
    }
    void change(int wanted) noexcept {
        std::uint32_t const changes = (m_word.load(std::memory_order_relaxed) >> k_number_bits) + 1;
        // pairs with read().
        m_word.store((changes << k_number_bits) | static_cast<std::uint32_t>(wanted),
                     std::memory_order_release);
    }
    void tell_all() noexcept { Machine::futex_wake(m_word, INT_MAX); }

private:
    static constexpr std::uint32_t k_number_bits = 16;
    static constexpr std::uint32_t k_number = (1U << k_number_bits) - 1;

    atomic<std::uint32_t> m_word{0}; // futex
};

} // namespace tulle::sched
