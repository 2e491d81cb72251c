// SPDX-License-Identifier: Apache-2.0
// The word in which a thread that finishes and a thread that waits for it meet. One finishes, at
// most one waits.
//   running --set_waiter--> waiter --finish--> done        running --finish--> done
// Either the waiter's compare-and-swap finds `running` and finish() returns the waiter, or it finds
// `done` and the waiter goes on.
#pragma once

#include <tulle/detail/record.hpp>

#include <cstdint>

namespace tulle::sched {

template <class Atomic> class join_word {
public:
    explicit join_word(Atomic& word) noexcept : m_word(word) {}

    // acquire pairs with the release in finish: the result is visible.
    [[nodiscard]] bool is_done() const noexcept {
        return m_word.load(std::memory_order_acquire) == detail::k_done;
    }

    // The thread that ran the record calls this, once, when the result is written. Returns the
    // address of the waiter to wake, or 0. After it the word, and the record around it, may be
    // gone. acq_rel: release pairs with is_done and set_waiter; acquire pairs with the release in
    // set_waiter.
    [[nodiscard]] std::uintptr_t finish() noexcept {
        std::uintptr_t const waiter = m_word.exchange(detail::k_done, std::memory_order_acq_rel);
        return waiter == detail::k_running ? 0 : waiter;
    }
    // Called for the waiter, which is suspended already. False: the record is done meanwhile, and
    // nobody will wake the waiter.
    [[nodiscard]] bool set_waiter(std::uintptr_t waiter) noexcept {
        std::uintptr_t expected = detail::k_running;
        // release pairs with the acquire in finish: the waiter is suspended. acquire pairs with the
        // release in finish: failing, the result is visible.
        return m_word.compare_exchange_strong(expected, waiter, std::memory_order_release,
                                              std::memory_order_acquire);
    }
    // The waiter of a timed join calls this before the thread has finished. False: finish() came
    // first and will wake it, or has.
    [[nodiscard]] bool clear_waiter(std::uintptr_t waiter) noexcept {
        // acquire pairs with finish: failing, the result is visible. Succeeding it needs none, but
        // no compiler takes less there.
        return m_word.compare_exchange_strong(waiter, detail::k_running, std::memory_order_acquire,
                                              std::memory_order_acquire);
    }
    // The waiter calls this after is_done: the record may be used again. relaxed: published with
    // the next record.
    void reset() noexcept { m_word.store(detail::k_running, std::memory_order_relaxed); }

private:
    Atomic& m_word;
};

} // namespace tulle::sched
