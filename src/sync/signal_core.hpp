// SPDX-License-Identifier: Apache-2.0
// A count of notifications still to come, and at most one thread that waits for the last. One word
// decides:
//   bits 0..31 the count | bit 32: a thread waits | bit 33: a thread is about to, so that no other
//   one writes who waits | bits 34..63: number of the wait, so that no two waits have the same word
// The notification that makes the count zero also takes the waiting bit away, and with it the duty
// to resume the waiter; a timer takes the bit away while the count is not zero. So exactly one of
// them resumes it. Nobody touches the signal after having made the count zero.
// Source: the SimpleSignal of OctoPOS, the operating system of invasive computing.
#pragma once

#include "sync/waits.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::sync {

enum class signal_error { none, too_many_notifications, second_waiter, too_many_signalers };

template <class Parking> class signal_core {
    using machine = typename Parking::machine;
    using handle = typename Parking::handle;
    template <class T> using atomic = typename machine::template atomic<T>;

public:
    static constexpr std::uint32_t k_most = 0x7FFFFFFF;

    // relaxed: before it is shared
    void open(std::uint32_t count) noexcept { m_word.store(count, std::memory_order_relaxed); }

    // acquire pairs with the release in notify.
    [[nodiscard]] bool is_zero() const noexcept {
        return count_of(m_word.load(std::memory_order_acquire)) == 0;
    }
    // Whether a thread waits: a snapshot.
    [[nodiscard]] bool has_waiter() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_waiting) != 0;
    }

    // Notifications to come: a snapshot.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return count_of(m_word.load(std::memory_order_relaxed));
    }

    [[nodiscard]] signal_error notify() noexcept {
        Parking::schedule_point();
        // Pairs with the release in enter: m_waiter is that of this wait.
        std::uint64_t word = m_word.load(std::memory_order_acquire);
        for (;;) {
            if (count_of(word) == 0) return signal_error::too_many_notifications;
            bool const wakes = count_of(word) == 1 && (word & k_waiting) != 0;
            // relaxed: if it belongs to a later wait, the word has changed as well, and the
            // exchange fails.
            handle const waiter = wakes ? m_waiter.load(std::memory_order_relaxed) : nullptr;
            // acq_rel: release pairs with is_zero and enter; acquire keeps m_waiter, and makes this
            // one carry on what others released.
            if (!m_word.compare_exchange_weak(word, (wakes ? word & ~k_waiting : word) - 1,
                                              std::memory_order_acq_rel, std::memory_order_acquire))
                continue;
            if (wakes) Parking::resume(waiter);
            return signal_error::none;
        }
    }
    [[nodiscard]] signal_error add(std::uint32_t more) noexcept {
        Parking::schedule_point();
        // relaxed: the exchange decides
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        do {
            if (more > k_most - count_of(word)) return signal_error::too_many_signalers;
        } while (!m_word.compare_exchange_weak(word, word + more, std::memory_order_relaxed,
                                               std::memory_order_relaxed));
        // relaxed: it publishes nothing, and every notification passes it on (release sequence)
        return signal_error::none;
    }
    [[nodiscard]] signal_error wait() noexcept {
        Parking::schedule_point();
        if (is_zero()) return signal_error::none;
        request r{*this, Parking::self()};
        Parking::set_wait(r.thread, {wait::wait_kind::signal, this});
        Parking::suspend(&post_wait, &r, nullptr);
        return r.error;
    }
    // `in_time`: whether it was zero before the limit was reached.
    [[nodiscard]] signal_error wait_until(limit<Parking> until, bool& in_time) noexcept {
        Parking::schedule_point();
        in_time = is_zero();
        if (in_time || until.is_over()) return signal_error::none;
        limited_entry way{*this};
        sole_waiter<Parking, limited_entry> self(way, until);
        in_time = self.wait({wait::wait_kind::signal, this});
        return way.error;
    }

private:
    static constexpr std::uint64_t k_waiting = std::uint64_t{1} << 32;
    static constexpr std::uint64_t k_entering = std::uint64_t{1} << 33;
    static constexpr std::uint64_t k_one_wait = std::uint64_t{1} << 34;

    enum class entry { waits, is_zero, taken };

    struct request {
        signal_core& of;
        handle thread;
        signal_error error = signal_error::none;
    };
    struct limited_entry {
        signal_core& of;
        signal_error error = signal_error::none;
        std::uint64_t number = 0; // of this wait; set before the limit starts

        [[nodiscard]] bool enter(handle thread) noexcept {
            entry const e = of.enter(thread, number);
            if (e == entry::taken) error = signal_error::second_waiter;
            return e == entry::waits;
        }
        [[nodiscard]] bool withdraw(handle) const noexcept { return of.withdraw(number); }
    };

    [[nodiscard]] static std::uint64_t number_of(std::uint64_t word) noexcept {
        return word / k_one_wait;
    }
    [[nodiscard]] static std::uint32_t count_of(std::uint64_t word) noexcept {
        return static_cast<std::uint32_t>(word);
    }

    // Called for the waiter, which is suspended already.
    [[nodiscard]] entry enter(handle thread, std::uint64_t& number) noexcept {
        std::uint64_t word = 0;
        if (entry const e = claim(word); e != entry::waits) return e;
        m_waiter.store(thread, std::memory_order_relaxed); // published by the exchange
        for (;;) {
            bool const waits = count_of(word) != 0;
            std::uint64_t const claimed = word & ~k_entering;
            std::uint64_t const next = waits ? (claimed + k_one_wait) | k_waiting : claimed;
            // release pairs with notify; acquire: it may be zero, or fail because it is by now.
            if (!m_word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                              std::memory_order_acquire))
                continue;
            number = number_of(next);
            return waits ? entry::waits : entry::is_zero;
        }
    }
    // entry::waits: the caller may write who waits. `word` is what the signal is then.
    [[nodiscard]] entry claim(std::uint64_t& word) noexcept {
        // Pairs with the release in notify.
        word = m_word.load(std::memory_order_acquire);
        for (;;) {
            if (count_of(word) == 0) return entry::is_zero;
            if ((word & (k_waiting | k_entering)) != 0) return entry::taken;
            // acquire, both: it may be zero by now, and what the last waiter has read of m_waiter
            // has been read.
            if (m_word.compare_exchange_weak(word, word | k_entering, std::memory_order_acquire,
                                             std::memory_order_acquire))
                break;
        }
        word |= k_entering;
        return entry::waits;
    }
    // The timer or the canceller calls this. False: a notification came first and resumes the
    // waiter; others may wait by now.
    [[nodiscard]] bool withdraw(std::uint64_t number) noexcept {
        // relaxed: the exchange decides
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        while ((word & k_waiting) != 0 && number_of(word) == number) {
            // relaxed: it says nothing; what others have released through the word goes on with it
            // (release sequence).
            if (m_word.compare_exchange_weak(word, word & ~k_waiting, std::memory_order_relaxed,
                                             std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    // If the thread waits, the request may be gone.
    static void post_wait(void* argument, void*) noexcept {
        auto& r = *static_cast<request*>(argument);
        std::uint64_t number = 0;
        entry const e = r.of.enter(r.thread, number);
        if (e == entry::waits) return;
        if (e == entry::taken) r.error = signal_error::second_waiter;
        Parking::resume(r.thread);
    }

    atomic<std::uint64_t> m_word{0};
    atomic<handle> m_waiter{nullptr};
};

} // namespace tulle::sync
