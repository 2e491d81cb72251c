// SPDX-License-Identifier: Apache-2.0
// The state that a future and its promise share, with the value; and the callbacks that work on
// states.
#pragma once

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/future_core.hpp>
#include <tulle/detail/invoke.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace tulle {

template <class T> class future;

namespace detail {

struct future_access;

// Of a value, a reference, nothing.
template <class T> struct future_value {
    std::optional<T> held;
    template <class... A> void set(A&&... a) { held.emplace(std::forward<A>(a)...); }
    T take() { return std::move(*held); }
};
template <class T> struct future_value<T&> {
    T* held = nullptr;
    void set(T& value) noexcept { held = std::addressof(value); }
    T& take() noexcept { return *held; }
};
template <> struct future_value<void> {
    void set() noexcept {}
    void take() noexcept {}
};

template <class T> struct future_state : future_core {
    future_state() noexcept : future_core(&destroy) {}
    static void destroy(future_core* core) noexcept { delete static_cast<future_state*>(core); }

    // By the one that has claimed it, with a reference of its own.
    template <class... A> void set_value(A&&... a) {
        value.set(std::forward<A>(a)...);
        make_ready();
    }
    void set_exception(std::exception_ptr e) noexcept {
        exception = std::move(e);
        make_ready();
    }
    // What `call()` returns or throws. make_ready() follows.
    template <class F> void set_from(F& call) noexcept {
        TULLE_TRY {
            if constexpr (std::is_void_v<T>)
                detail::invoke(call);
            else
                value.set(detail::invoke(call));
        }
        TULLE_CATCH(...) { exception = caught_exception(); }
    }
    T take() {
        if (exception != nullptr) std::rethrow_exception(std::exchange(exception, nullptr));
        return value.take();
    }
    // What another one has, which is ready.
    void take_from(future_state& other) noexcept {
        auto take = [&other]() -> T { return other.take(); };
        {
            callbacks_apart const apart;
            set_from(take);
        }
        make_ready();
    }

    [[no_unique_address]] future_value<T> value;
};

template <class T> using future_state_pointer = state_pointer<future_state<T>>;

template <class T> struct is_future : std::false_type {};
template <class T> struct is_future<future<T>> : std::true_type { using value_type = T; };

// What the continuation of a future<T> returns: called with the future, or with its value.
template <class F, class T> struct continuation_result {
    static constexpr bool k_takes_future = false;
    using type = std::invoke_result_t<F, T>;
};
template <class F, class T>
requires std::is_invocable_v<F, future<T>>
struct continuation_result<F, T> {
    static constexpr bool k_takes_future = true;
    using type = std::invoke_result_t<F, future<T>>;
};
template <class F>
requires(!std::is_invocable_v<F, future<void>>) struct continuation_result<F, void> {
    static constexpr bool k_takes_future = false;
    using type = std::invoke_result_t<F>;
};

// future<future<T>> is not wanted: a continuation that returns a future has that one's result.
template <class R> struct flattened { using type = R; };
template <class R> struct flattened<future<R>> { using type = R; };

// When a state is ready, another one gets what it has.
template <class T> struct forwarding : future_callback {
    future_state_pointer<T> from, to;

    static void start(future_state_pointer<T> source, future_state_pointer<T> target) {
        auto* const self = new forwarding;
        self->run = &finish;
        self->from = std::move(source);
        self->to = std::move(target);
        if (!self->from->add(*self)) finish(self);
    }
    static void finish(future_callback* c) noexcept {
        std::unique_ptr<forwarding> self(static_cast<forwarding*>(c));
        self->to->take_from(*self->from);
        callbacks_apart const apart;
        self.reset();
    }
};

// When a state is ready, a thread calls a function with what it has; its result is that of another
// state.
template <class T, class F, class R> struct continuation : future_callback {
    using result = typename flattened<R>::type;

    future_state_pointer<T> from;
    future_state_pointer<result> to;
    F function;
    void const* site;

    continuation(future_state_pointer<T> source, future_state_pointer<result> target, F f,
                 void const* where)
        : from(std::move(source)), to(std::move(target)), function(std::move(f)), site(where) {
        this->run = &fire;
    }
    // An exception that the function does not want to see goes on without a thread.
    static void fire(future_callback* c) noexcept {
        auto* const self = static_cast<continuation*>(c);
        if (continuation_result<F, T>::k_takes_future || self->from->exception == nullptr)
            start_or_call(&call, self, self->site);
        else
            self->pass_exception();
    }

private:
    void pass_exception() noexcept {
        std::unique_ptr<continuation> self(this);
        to->set_exception(std::exchange(from->exception, nullptr));
        callbacks_apart const apart;
        self.reset();
    }
    static void call(void* of) noexcept {
        std::unique_ptr<continuation> self(static_cast<continuation*>(of));
        auto const target = self->to;
        if constexpr (is_future<R>::value) {
            TULLE_TRY {
                future_state_pointer<result> inner = std::move(self->invoke().m_state);
                self.reset();
                if (!inner) return target->set_exception(detail::broken_promise());
                forwarding<result>::start(std::move(inner), target);
            }
            TULLE_CATCH(...) { target->set_exception(caught_exception()); }
        } else {
            auto invoke = [&self]() -> R { return self->invoke(); };
            target->set_from(invoke);
            self.reset();
            target->make_ready();
        }
    }
    R invoke() {
        if constexpr (continuation_result<F, T>::k_takes_future)
            return detail::invoke(std::move(function), future<T>(std::move(from)));
        else if constexpr (std::is_void_v<T>)
            return detail::invoke(std::move(function));
        else
            return detail::invoke(std::move(function), from->value.take());
    }
};

} // namespace detail
} // namespace tulle
