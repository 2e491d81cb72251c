// SPDX-License-Identifier: Apache-2.0
// Calls at a later time, once or again and again, each timer's in a thread of its own. Contexts:
// any thread of the process.
#pragma once

#include <tulle/cancellation.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace tulle {

namespace detail {

enum class timer_state : std::uint32_t { waits, calls, is_over };

// Shared by the timer and its thread.
struct timer_core {
    cancellation_source stop;
    std::atomic<timer_state> state{timer_state::waits};

    // relaxed, all: what the call needs comes with the start of the thread, and a thread that
    // cancels does not read what it did.
    [[nodiscard]] bool change(timer_state from, timer_state to) noexcept {
        return state.compare_exchange_strong(from, to, std::memory_order_relaxed,
                                             std::memory_order_relaxed);
    }
    // The next time after now that lies whole periods after `last`.
    [[nodiscard]] static std::uint64_t next_after(std::uint64_t last,
                                                  std::uint64_t period) noexcept {
        std::uint64_t const now = now_ns();
        return now < last + period ? last + period : now + period - (now - last) % period;
    }
    // False: it is over.
    [[nodiscard]] bool wait_until(std::uint64_t when) const noexcept {
        cancellation_token const token = stop.get_token();
        return !wait_for_cancellation({when, wait_limit(token).get().token});
    }
    template <class F> void run(std::uint64_t when, std::uint64_t period, F& call) {
        while (wait_until(when) && change(timer_state::waits, timer_state::calls)) {
            detail::invoke(call);
            bool const again = period != 0 && !stop.stop_requested();
            // relaxed: as in change
            state.store(again ? timer_state::waits : timer_state::is_over,
                        std::memory_order_relaxed);
            if (!again) return;
            when = next_after(when, period);
        }
    }
};

} // namespace detail

// Owns a callback to come. Destroyed, it cancels it, and waits for a call that is in progress,
// unless it is destroyed by that call. A timer costs what a waiting thread costs. The callback may
// wait; an exception that leaves it ends the program.
// Memory ordering: what happens before the timer is made happens before each call, and a call
// before the return from wait() or the destructor.
class timer {
public:
    timer() noexcept = default; // of no callback
    timer(timer&&) noexcept = default;
    timer& operator=(timer&& other) noexcept {
        if (this != &other) {
            end();
            m_core = std::move(other.m_core);
            m_thread = std::move(other.m_thread);
        }
        return *this;
    }
    ~timer() { end(); }

    // Errors of all: as of spawn().
    template <class Rep, class Period, class F>
    [[nodiscard]] static timer after(std::chrono::duration<Rep, Period> const& time, F call) {
        return timer(detail::deadline_after(time), 0, std::move(call));
    }
    // At a point in time; at once if that is over.
    template <class Clock, class Duration, class F>
    [[nodiscard]] static timer at(std::chrono::time_point<Clock, Duration> const& when, F call) {
        return timer(detail::deadline_at(when), 0, std::move(call));
    }
    // For the first time when one period is over. Calls are not made up for: if one lasts for
    // longer than a period, those that were due meanwhile do not happen, and the next comes at a
    // whole number of periods after the first. A period is at least a nanosecond.
    template <class Rep, class Period, class F>
    [[nodiscard]] static timer every(std::chrono::duration<Rep, Period> const& period, F call) {
        return every(period, period, std::move(call));
    }

    // Calls again and again, like the form without `first`, with another time until the first call.
    template <class First, class Rep, class Period, class F>
    [[nodiscard]] static timer every(First const& until_first,
                                     std::chrono::duration<Rep, Period> const& period, F call) {
        return timer(detail::deadline_after(until_first), length_of(period), std::move(call));
    }

    // True: no call will begin any more, and none is in progress. False: one is, or the last one is
    // over.
    bool cancel() noexcept {
        if (m_core == nullptr) return false;
        bool const cancelled =
            m_core->change(detail::timer_state::waits, detail::timer_state::is_over);
        m_core->stop.request_stop();
        return cancelled;
    }
    // Waits for the end: of the one call, or, with every(), until another thread cancels it. Not
    // from the call itself.
    void wait() {
        if (m_thread.joinable()) m_thread.join();
    }

private:
    template <class Rep, class Period>
    [[nodiscard]] static std::uint64_t length_of(std::chrono::duration<Rep, Period> const& period) {
        return std::clamp<std::uint64_t>(detail::length_in_ns(period), 1, detail::k_longest_ns);
    }
    template <class F>
    timer(std::uint64_t when, std::uint64_t period, F call)
        : m_core(std::make_shared<detail::timer_core>()) {
        if (when == 0) when = detail::now_ns(); // periods are counted from it
        m_thread = spawn(
            [core = m_core, when, period, held = std::make_unique<F>(std::move(call))]() noexcept {
                core->run(when, period, *held);
            });
    }
    void end() noexcept {
        if (!m_thread.joinable()) return;
        cancel();
        if (m_thread.get_id() == this_thread::get_id())
            m_thread.detach();
        else
            m_thread.join();
    }

    std::shared_ptr<detail::timer_core> m_core;
    thread<void> m_thread;
};

} // namespace tulle
