// SPDX-License-Identifier: Apache-2.0
// Results that come later: promise<T> writes one, future<T> waits for it, async() starts a thread
// whose result it is. Unlike those of the standard library they block no OS thread, and can be
// continued (then), and waited for together (<tulle/when.hpp>).
// Contexts: any thread of the process; a single future or promise by one thread at a time.
// Sources: ISO C++20, 32.9; the Concurrency TS (ISO/IEC 19571:2016) for then.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/future_state.hpp>
#include <tulle/spawn_group.hpp>
#include <tulle/thread.hpp>
#include <tulle/wait_limit.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace tulle {

template <class T> class promise;

// A result that comes, or has come: a value (any type that can be moved, a reference, or void) or
// an exception. Moved, not copied. Destroyed without waiting; the thread that it was to come from
// goes on.
// Errors of all but the destructor and valid(): std::future_error (of <future>, which this header
// does not include; no_state): it is not valid.
// Memory ordering: what happens before the result was set happens before the return of a wait, and
// before a continuation.
template <class T> class [[nodiscard]] future {
public:
    future() noexcept = default;
    future(future&& other) noexcept = default;
    future& operator=(future&& other) noexcept = default;

    // Whether there is a result to come or to be taken.
    [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(m_state); }
    // Waits; returns the value or throws the exception. Not valid any more then.
    // A thread made by async() that nobody has started yet runs in the caller's frame, here and in
    // wait().
    T get() {
        state().wait();
        auto const last = std::move(m_state);
        return last->take();
    }
    // Waits for the result, which stays.
    void wait() const { state().wait(); }
    // False: not there when the limit was reached.
    [[nodiscard]] bool wait(wait_limit const& limit) const {
        return state().wait_before(limit.get());
    }
    // Whether it has come; get() will not wait then.
    [[nodiscard]] bool try_wait() const { return state().is_ready(); }
    // False: not there when the time was up. A time-out in the past behaves as try_wait().
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return state().wait_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return state().wait_before(detail::deadline_at(deadline));
    }

    // When the result has come, a thread calls `f` with this future if it takes one, else with the
    // value; an exception then goes on to what this returns, and `f` is not called. The future of
    // what `f` returns; if that is a future, one with the same result. This one is not valid any
    // more.
    // Errors: std::bad_alloc; what copying `f` throws. Without memory for a thread, the one that
    // sets the result calls `f`.
    template <class F> TULLE_INLINE auto then(F&& f) {
        using traits = detail::continuation_result<std::decay_t<F>, T>;
        using result = typename detail::flattened<typename traits::type>::type;
        using continuation = detail::continuation<T, std::decay_t<F>, typename traits::type>;
        detail::future_state_pointer<result> const target(new detail::future_state<result>);
        static_cast<void>(state());
        auto* const c = new continuation(m_state, target, std::forward<F>(f), detail::call_site());
        auto const from = std::move(m_state);
        if (!from->add(*c)) continuation::fire(c);
        return future<result>(target);
    }

private:
    template <class U> friend class future;
    template <class U> friend class promise;
    template <class U, class F, class R> friend struct detail::continuation;
    friend struct detail::future_access;

    explicit future(detail::future_state_pointer<T> s) noexcept : m_state(std::move(s)) {}
    [[nodiscard]] detail::future_state<T>& state() const {
        if (!m_state) detail::throw_future_error(detail::future_fault::no_state);
        return *m_state;
    }

    detail::future_state_pointer<T> m_state;
};

namespace detail {

struct future_access {
    template <class T> static future<T> make(future_state_pointer<T> s) noexcept {
        return future<T>(std::move(s));
    }
    template <class T> static future_state<T>& state(future<T> const& f) { return f.state(); }
};

} // namespace detail

// Where the result of a future is set, once. Destroyed before, it sets std::future_error
// (broken_promise).
// Errors: std::future_error: promise_already_satisfied, future_already_retrieved, no_state (moved
// from).
template <class T> class promise {
public:
    promise() : m_state(new detail::future_state<T>) {} // std::bad_alloc
    promise(promise&& other) noexcept
        : m_state(std::move(other.m_state)), m_is_given(other.m_is_given) {}
    promise& operator=(promise&& other) noexcept {
        promise taken(std::move(other));
        std::swap(m_state, taken.m_state);
        std::swap(m_is_given, taken.m_is_given);
        return *this;
    }
    ~promise() {
        if (m_state && m_state->claim()) m_state->set_exception(detail::broken_promise());
    }

    // Once.
    [[nodiscard]] future<T> get_future() {
        static_cast<void>(state());
        if (std::exchange(m_is_given, true))
            detail::throw_future_error(detail::future_fault::already_retrieved);
        return detail::future_access::make(m_state);
    }
    // From the arguments of a constructor of T; nothing for void. What that throws is the result
    // then.
    template <class... A> void set_value(A&&... a) {
        claim();
        auto const mine = m_state; // a thread that waits may destroy the promise
        TULLE_TRY { mine->value.set(std::forward<A>(a)...); }
        TULLE_CATCH(...) { mine->exception = detail::caught_exception(); }
        mine->make_ready();
    }
    // The result is this exception, which get() throws.
    void set_exception(std::exception_ptr e) {
        claim();
        auto const mine = m_state;
        mine->set_exception(std::move(e));
    }

private:
    [[nodiscard]] detail::future_state<T>& state() const {
        if (!m_state) detail::throw_future_error(detail::future_fault::no_state);
        return *m_state;
    }
    void claim() {
        if (!state().claim()) detail::throw_future_error(detail::future_fault::already_satisfied);
    }

    detail::future_state_pointer<T> m_state;
    bool m_is_given = false;
};

// Ready at once.
template <class T> [[nodiscard]] future<std::decay_t<T>> make_ready_future(T&& value) {
    promise<std::decay_t<T>> p;
    p.set_value(std::forward<T>(value));
    return p.get_future();
}
[[nodiscard]] inline future<void> make_ready_future() {
    promise<void> p;
    p.set_value();
    return p.get_future();
}
template <class T> [[nodiscard]] future<T> make_exceptional_future(std::exception_ptr e) {
    promise<T> p;
    p.set_exception(std::move(e));
    return p.get_future();
}

namespace detail {

// The body of a thread whose result is that of a future.
template <class T, class F> struct async_body {
    future_state_pointer<T> state;
    F callable;

    void operator()() noexcept {
        fill();
        state->make_ready();
        state->drop_runner();
    }
    void fill() noexcept {
        F own(std::move(callable)); // gone before anybody sees the result
        state->set_from(own);
    }
};

} // namespace detail

// Starts `callable(arguments...)`, decayed copies of both, as a thread; the future of its result.
// Errors: those of spawn().
template <class F, class... A>
TULLE_INLINE auto async(attributes chosen, F&& callable, A&&... arguments) {
    auto bound = detail::bind_call(std::forward<F>(callable), std::forward<A>(arguments)...);
    using result = std::invoke_result_t<decltype(bound)&>;
    detail::future_state_pointer<result> state(new detail::future_state<result>);
    using body = detail::async_body<result, decltype(bound)>;
    detail::thread_core* const t =
        detail::make_thread(chosen, body{state, std::move(bound)}, false);
    state->set_runner(t);
    detail::start_thread(t, false, chosen.child_first);
    return detail::future_access::make(std::move(state));
}
template <class F, class... A>
requires(!std::is_same_v<std::decay_t<F>, attributes> &&
         !std::is_same_v<std::decay_t<F>, spawn_group>) TULLE_INLINE
    auto async(F&& callable, A&&... arguments) {
    return async(attributes{}, std::forward<F>(callable), std::forward<A>(arguments)...);
}
// Runs it as a thread of the group, or as the group's policy says; an exception goes to the future.
// What holding() says of the callable counts.
template <class F, class... A>
TULLE_INLINE auto async(spawn_group& group, F&& callable, A&&... arguments) {
    [[maybe_unused]] detail::held_bytes const held = detail::bytes_of(callable);
    auto bound = detail::bind_call(std::forward<F>(callable), std::forward<A>(arguments)...);
    using result = std::invoke_result_t<decltype(bound)&>;
    detail::future_state_pointer<result> state(new detail::future_state<result>);
    detail::async_body<result, decltype(bound)> body{state, std::move(bound)};
    if constexpr (detail::says_bytes<std::decay_t<F>>)
        group.spawn(holding(held.count, std::move(body)));
    else
        group.spawn(std::move(body));
    return detail::future_access::make(std::move(state));
}

} // namespace tulle
