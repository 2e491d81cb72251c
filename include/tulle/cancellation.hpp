// SPDX-License-Identifier: Apache-2.0
// Ending waits, and work, that are not wanted any longer: the shape of std::stop_source and
// std::stop_token, with deadlines, and parts that end with the whole. Contexts: any thread of the
// process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/wait_limit.hpp>

#include <cstdint>
#include <utility>

namespace tulle {

namespace detail {

TULLE_API cancellation* open_cancellation(cancellation* whole); // throws std::bad_alloc
TULLE_API void share_cancellation(cancellation* c) noexcept;
TULLE_API void drop_cancellation(cancellation* c) noexcept;
TULLE_API bool request_cancellation(cancellation& c) noexcept;
TULLE_API void request_cancellation_at(cancellation& c, std::uint64_t deadline) noexcept;
TULLE_API bool is_cancelled(cancellation& c) noexcept;
TULLE_API bool wait_for_cancellation(limit until) noexcept;

// One reference, or null.
class cancellation_reference {
public:
    cancellation_reference() noexcept = default;
    explicit cancellation_reference(cancellation* taken) noexcept : m_state(taken) {}
    cancellation_reference(cancellation_reference const& other) noexcept : m_state(other.m_state) {
        if (m_state != nullptr) share_cancellation(m_state);
    }
    cancellation_reference(cancellation_reference&& other) noexcept
        : m_state(std::exchange(other.m_state, nullptr)) {}
    cancellation_reference& operator=(cancellation_reference other) noexcept {
        std::swap(m_state, other.m_state);
        return *this;
    }
    ~cancellation_reference() {
        if (m_state != nullptr) drop_cancellation(m_state);
    }
    [[nodiscard]] cancellation* get() const noexcept { return m_state; }

private:
    cancellation* m_state = nullptr;
};

} // namespace detail

// Tells whether its source was cancelled; ends the waits that it is given to. Copies are cheap: a
// reference count.
// latch.wait(token), mutex.lock(token), channel.receive(token), ... return early, false or the
// like, when it is cancelled, and at once, if they would have to wait, when it was before. What has
// happened by then is as after a time-out: nothing.
class cancellation_token {
public:
    cancellation_token() noexcept = default; // of no source: never cancelled

    // True also when the source's deadline is over. Memory ordering: what happened before the
    // request happens before this returns true.
    [[nodiscard]] bool stop_requested() const noexcept {
        return m_state.get() != nullptr && detail::is_cancelled(*m_state.get());
    }
    // False: a token of no source.
    [[nodiscard]] bool stop_possible() const noexcept { return m_state.get() != nullptr; }
    // Returns when it is cancelled. A token of no source: never.
    void wait() const noexcept {
        static_cast<void>(detail::wait_for_cancellation({detail::k_no_deadline, m_state.get()}));
    }
    // False: not before the time was up.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return detail::wait_for_cancellation({detail::deadline_after(timeout), m_state.get()});
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return detail::wait_for_cancellation({detail::deadline_at(deadline), m_state.get()});
    }
    [[nodiscard]] friend bool operator==(cancellation_token const& a,
                                         cancellation_token const& b) noexcept {
        return a.m_state.get() == b.m_state.get();
    }

private:
    friend class cancellation_source;
    friend class wait_limit;
    friend class activities;

    explicit cancellation_token(detail::cancellation_reference state) noexcept
        : m_state(std::move(state)) {}

    detail::cancellation_reference m_state;
};

// What can be cancelled, once and for all. Copies are the same source.
class cancellation_source {
public:
    // Errors: std::bad_alloc.
    cancellation_source() : m_state(detail::open_cancellation(nullptr)) {}
    // A part of what the token belongs to: cancelled with it, or alone.
    explicit cancellation_source(cancellation_token const& whole)
        : m_state(detail::open_cancellation(whole.m_state.get())) {}

    // A token of this source; as many as are wanted.
    [[nodiscard]] cancellation_token get_token() const noexcept {
        return cancellation_token(m_state);
    }
    // True: this call has cancelled it. False: it was cancelled already.
    bool request_stop() noexcept { return detail::request_cancellation(*m_state.get()); }
    // It is cancelled then, if it was not to be earlier already. May start the run time.
    template <class Rep, class Period>
    void request_stop_after(std::chrono::duration<Rep, Period> const& time) {
        detail::request_cancellation_at(*m_state.get(), detail::deadline_after(time));
    }
    template <class Clock, class Duration>
    void request_stop_at(std::chrono::time_point<Clock, Duration> const& deadline) {
        detail::request_cancellation_at(*m_state.get(), detail::deadline_at(deadline));
    }
    // Whether it is cancelled, or its deadline is over.
    [[nodiscard]] bool stop_requested() const noexcept {
        return detail::is_cancelled(*m_state.get());
    }

private:
    detail::cancellation_reference m_state;
};

inline wait_limit::wait_limit(cancellation_token const& token) noexcept
    : m_limit(detail::k_no_deadline, token.m_state.get()) {}
template <class Rep, class Period>
wait_limit::wait_limit(cancellation_token const& token,
                       std::chrono::duration<Rep, Period> const& timeout)
    : m_limit(detail::deadline_after(timeout), token.m_state.get()) {}
template <class Clock, class Duration>
wait_limit::wait_limit(cancellation_token const& token,
                       std::chrono::time_point<Clock, Duration> const& deadline)
    : m_limit(detail::deadline_at(deadline), token.m_state.get()) {}

namespace this_thread {

// True: the time is over. False: the token was cancelled before.
template <class Rep, class Period>
[[nodiscard]] bool sleep_for(std::chrono::duration<Rep, Period> time,
                             cancellation_token const& token) {
    return !token.wait_for(time);
}
template <class Clock, class Duration>
[[nodiscard]] bool sleep_until(std::chrono::time_point<Clock, Duration> deadline,
                               cancellation_token const& token) {
    return !token.wait_until(deadline);
}

} // namespace this_thread
} // namespace tulle
