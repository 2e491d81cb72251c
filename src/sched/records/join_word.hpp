// SPDX-License-Identifier: Apache-2.0
// The word in which a thread that finishes and a thread that waits for it meet. One finishes, at
// most one waits.
//   running --set_waiter--> waiter --finish--> done        running --finish--> done
//   running --abandon--> abandoned --finish--> done
// Either the waiter's compare-and-swap finds `running` and finish() returns the waiter, or it finds
// `done` and the waiter goes on.
#pragma once

#include <tulle/detail/record.hpp>

#include <cstdint>

namespace tulle::sched {

inline constexpr std::uintptr_t k_abandoned = 2; // no address of a waiter

template <class Atomic> class join_word {
public:
    explicit join_word(Atomic& word) noexcept : m_word(word) {}

    // acquire pairs with the release in finish: the result is visible.
    [[nodiscard]] bool is_done() const noexcept {
        return m_word.load(std::memory_order_acquire) == detail::k_done;
    }

    // The thread that ran the record calls this, once, when the result is written. Returns the
    // address of the waiter to wake, or 0: after it the word, and the record around it, may be
    // gone. k_abandoned: the record is the caller's. acq_rel: release pairs with is_done,
    // set_waiter and abandon; acquire pairs with the release in set_waiter and abandon.
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
    // Whoever could wait will not. False: the record is done, so it is the caller's.
    [[nodiscard]] bool abandon() noexcept {
        std::uintptr_t expected = detail::k_running;
        // release pairs with the acquire in finish: the caller has done with the record. acquire
        // pairs with the release in finish: failing, so has whoever ran it.
        return !is_done() &&
               m_word.compare_exchange_strong(expected, k_abandoned, std::memory_order_release,
                                              std::memory_order_acquire);
    }
    // The waiter calls this after is_done: the record may be used again. relaxed: published with
    // the next record.
    void reset() noexcept { m_word.store(detail::k_running, std::memory_order_relaxed); }

private:
    Atomic& m_word;
};

// A record that counts its references has one for either side of its word; whichever goes last
// drops both. True: nobody else has one. As drop_reference (detail/reference_count.hpp),
// and acquire and acq_rel pair with that.
template <class Count> [[nodiscard]] bool drop_both_references(Count& count) noexcept {
    return count.load(std::memory_order_acquire) == 2 ||
           count.fetch_sub(2, std::memory_order_acq_rel) == 2;
}

} // namespace tulle::sched
