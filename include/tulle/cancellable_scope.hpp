// SPDX-License-Identifier: Apache-2.0
// A scope of forked threads that ends early: cancelled, at a deadline, with what it is a part of,
// or when one of its threads fails.
#pragma once

#include <tulle/cancellation.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/scope.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace tulle {

// A tulle::scope that can be cancelled; used by the thread that made it, but for request_stop().
// Its threads make scopes of their own, with its token. When it is cancelled, threads that have not
// started do not start; others end when they check the token, or wait with it. An exception that
// leaves a thread cancels the scope.
class cancellable_scope {
public:
    // Errors: std::bad_alloc.
    cancellable_scope() = default;
    // It is cancelled with what the token belongs to, too.
    explicit cancellable_scope(cancellation_token const& whole) : m_source(whole) {}
    cancellable_scope(cancellable_scope const&) = delete;
    cancellable_scope& operator=(cancellable_scope const&) = delete;

    // What its threads check, or give to their waits.
    [[nodiscard]] cancellation_token get_token() const noexcept { return m_source.get_token(); }
    // Cancels it now, at a later time, or at a point in time, by any thread. True: this call has
    // cancelled it.
    bool request_stop() noexcept { return m_source.request_stop(); }
    template <class Rep, class Period>
    void request_stop_after(std::chrono::duration<Rep, Period> const& time) {
        m_source.request_stop_after(time);
    }
    template <class Clock, class Duration>
    void request_stop_at(std::chrono::time_point<Clock, Duration> const& deadline) {
        m_source.request_stop_at(deadline);
    }
    // Whether it is cancelled.
    [[nodiscard]] bool stop_requested() const noexcept { return m_source.stop_requested(); }

    // Starts `callable(token)`, or `callable()`. Errors: as scope::spawn().
    template <class F> void spawn(F&& callable) {
        m_threads.spawn(
            [this, call = std::decay_t<F>(std::forward<F>(callable))]() mutable { run(call); });
    }
    // Waits for all; then throws the exception of one of those that threw.
    // Memory ordering: all that the threads did happens before the return.
    void join() { m_threads.join(); }

    // Joins, and throws like join(). While another exception unwinds: cancels, and waits.
    ~cancellable_scope() noexcept(false) {
        if (std::uncaught_exceptions() > m_uncaught)
            m_source.request_stop(); // m_threads waits, and throws nothing
        else
            m_threads.join();
    }

private:
    template <class F> void run(F& call) {
        if (m_source.stop_requested()) return;
        TULLE_TRY {
            if constexpr (std::is_invocable_v<F&, cancellation_token>)
                static_cast<void>(detail::invoke(call, m_source.get_token()));
            else
                static_cast<void>(detail::invoke(call));
        }
        TULLE_CATCH(...) {
            m_source.request_stop();
            TULLE_RETHROW;
        }
    }

    cancellation_source m_source;
    int m_uncaught = std::uncaught_exceptions();
    scope m_threads;
};

} // namespace tulle
