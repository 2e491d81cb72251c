// SPDX-License-Identifier: Apache-2.0
// In which an OS thread that waits sleeps until it is resumed. It is resumed once for each wait; the next wait is published to its waker after
// the word has been reset, so no resumption is lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::park {

template <class Machine> class resume_word {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // By the waker. The word stays: a waiter that saw it may be gone already.
    void resume() noexcept {
        m_resumed.store(1, std::memory_order_release); // pairs with is_resumed()
        Machine::futex_wake(m_resumed, 1);
    }

    // By the waiter. acquire pairs with resume(): what the waker did before.
    [[nodiscard]] bool is_resumed() const noexcept { return m_resumed.load(std::memory_order_acquire) != 0; }
    // Until it is resumed, or for no reason. False: the deadline (ns, monotonic) has passed.
    [[nodiscard]] bool sleep(std::uint64_t deadline) noexcept { return Machine::futex_wait(m_resumed, 0, deadline); }
    // Then. relaxed: the next resumption comes after the next publication.
    void reset() noexcept { m_resumed.store(0, std::memory_order_relaxed); }

    // A hint, by anyone; relaxed: nothing is read on its strength.
    [[nodiscard]] bool looks_resumed() const noexcept { return m_resumed.load(std::memory_order_relaxed) != 0; }

private:
    atomic<std::uint32_t> m_resumed{0}; // futex
};

} // namespace tulle::park
