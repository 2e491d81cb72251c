// SPDX-License-Identifier: Apache-2.0
// Threads as objects: joined in any order, moved, detached, placed, named. For work that is joined
// where it is started, fork() is cheaper. How one is started is said by attributes
// (<tulle/detail/thread_core.hpp>): stack_size, shepherd, child_first, name.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/closure.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/thread_core.hpp>
#include <tulle/wait_limit.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tulle {

template <class R> class thread;

namespace detail {

template <class F> struct thread_body {
    static constexpr bool k_inline = fits_inline<F, k_thread_body_size>;

    static closure<F>& find(thread_core* t) noexcept {
        if constexpr (k_inline)
            return *std::launder(reinterpret_cast<closure<F>*>(t->body));
        else
            return **std::launder(reinterpret_cast<closure<F>**>(t->body));
    }
    template <class G> static void open(thread_core* t, G&& callable) {
        if constexpr (k_inline) {
            (::new (static_cast<void*>(t->body)) closure<F>)->set(std::forward<G>(callable));
        } else {
            auto owned = std::make_unique<closure<F>>();
            owned->set(std::forward<G>(callable));
            ::new (static_cast<void*>(t->body)) closure<F>*(owned.release());
        }
    }
    static void free_closure(thread_core* t) noexcept {
        if constexpr (!k_inline) delete &find(t);
    }
    static void run(thread_core* t) { find(t).evaluate(); }
    static void run_detached(thread_core* t) {
        F f = find(t).take_callable();
        free_closure(t);
        retire_thread(t);
        static_cast<void>(f());
    }
    static void close(thread_core* t) noexcept {
        find(t).destroy_result();
        free_closure(t);
    }
};

template <class R> using take_function = R (*)(thread_core*);

// Takes the result or the exception of a finished thread and drops the handle.
template <class F> std::invoke_result_t<F&> take_thread_result(thread_core* t) {
    struct closer {
        thread_core* t;
        ~closer() {
            thread_body<F>::free_closure(t);
            release_thread(t);
        }
    } guard{t};
    t->close = nullptr;
    if (t->exception != nullptr) rethrow_thread(t);
    return thread_body<F>::find(t).take_result();
}

template <class F>
TULLE_INLINE thread_core* make_thread(attributes const& chosen, F&& callable, bool detached) {
    using body = thread_body<std::decay_t<F>>;
    thread_core* const t = new_thread(chosen);
    TULLE_TRY { body::open(t, std::forward<F>(callable)); }
    TULLE_CATCH(...) {
        discard_thread(t);
        TULLE_RETHROW;
    }
    t->run = detached ? &body::run_detached : &body::run;
    t->detached = detached;
    t->close = &body::close;
    return t;
}

// A callable and its arguments, decayed copies, as std::thread keeps them.
template <class F, class... A> auto bind_call(F&& f, A&&... a) {
    if constexpr (sizeof...(A) == 0) {
        return std::decay_t<F>(std::forward<F>(f));
    } else {
        return [call = std::tuple<std::decay_t<F>, std::decay_t<A>...>(
                    std::forward<F>(f), std::forward<A>(a)...)]() mutable -> decltype(auto) {
            return std::apply(
                [](auto& g, auto&... b) -> decltype(auto) {
                    return detail::invoke(std::move(g), std::move(b)...);
                },
                call);
        };
    }
}

} // namespace detail

// Owns a thread that returns R. Movable; destroyed unjoined, it joins and drops the result; an
// exception ends the program then, as it has nowhere to go.
template <class R>
class [[nodiscard("a thread that is dropped at once is joined at once")]] thread {
public:
    thread() noexcept = default;
    thread(thread && other) noexcept
        : m_core(std::exchange(other.m_core, nullptr)), m_take(other.m_take) {}
    thread& operator=(thread&& other) noexcept {
        if (this != &other) {
            drop();
            m_core = std::exchange(other.m_core, nullptr);
            m_take = other.m_take;
        }
        return *this;
    }
    ~thread() { drop(); }

    // False: it owns no thread, or that was joined, detached or moved.
    [[nodiscard]] bool joinable() const noexcept { return m_core != nullptr; }

    // Waits for the end; returns its result or throws its exception. Throws std::system_error when
    // not joinable (EINVAL), or when it was left behind in the parent process by fork(2) (ESRCH).
    // Memory ordering: all that the thread did happens before the return.
    R join() {
        require();
        detail::wait_thread(m_core);
        return m_take(std::exchange(m_core, nullptr));
    }
    // Whether it has finished; join() will not wait then.
    [[nodiscard]] bool try_join() const {
        require();
        return detail::thread_is_done(m_core);
    }
    // Joins as try_join() does, but first waits for the end, no longer than until the deadline.
    template <class Clock, class Duration>
    [[nodiscard]] bool join_until(std::chrono::time_point<Clock, Duration> deadline) const {
        require();
        return detail::wait_thread_until(m_core, detail::deadline_at(deadline));
    }
    template <class Rep, class Period>
    [[nodiscard]] bool join_for(std::chrono::duration<Rep, Period> timeout) const {
        require();
        return detail::wait_thread_until(m_core, detail::deadline_after(timeout));
    }
    // Joins as try_join() does, but first waits for the end until the limit is reached.
    [[nodiscard]] bool try_join(wait_limit const& limit) const {
        require();
        return detail::wait_thread_until(m_core, limit.get());
    }
    // Nobody will join it. An exception that leaves a detached thread ends the program.
    void detach() {
        require();
        detail::release_thread(std::exchange(m_core, nullptr));
    }
    // The number of the thread; 0: it owns none.
    [[nodiscard]] thread_id get_id() const noexcept { return m_core != nullptr ? m_core->id : 0; }

private:
    template <class F, class... A>
    friend auto spawn(attributes chosen, F && callable, A && ... arguments);

    thread(detail::thread_core * core, detail::take_function<R> take) noexcept
        : m_core(core), m_take(take) {}
    void require() const {
        if (m_core == nullptr)
            TULLE_THROW(
                std::system_error(EINVAL, std::generic_category(), "tulle::thread: not joinable"));
    }
    void drop() noexcept {
        if (m_core != nullptr) static_cast<void>(join());
    }

    detail::thread_core* m_core = nullptr;
    detail::take_function<R> m_take = nullptr;
};

// Starts `callable(arguments...)`, decayed copies of both. Contexts: any thread of the process.
// Errors: std::system_error: attributes out of range (EINVAL), no memory (ENOMEM), no OS threads
// for the run time that the first use starts (EAGAIN); std::bad_alloc when the callable with its
// arguments is larger than 32 bytes; what moving it throws.
template <class F, class... A>
[[nodiscard]] TULLE_INLINE auto spawn(attributes chosen, F&& callable, A&&... arguments) {
    auto bound = detail::bind_call(std::forward<F>(callable), std::forward<A>(arguments)...);
    using bound_type = decltype(bound);
    using result = std::invoke_result_t<bound_type&>;
    detail::thread_core* const core = detail::make_thread(chosen, std::move(bound), false);
    detail::start_thread(core, false, chosen.child_first);
    return thread<result>(core, &detail::take_thread_result<bound_type>);
}
template <class F, class... A>
requires(!std::is_same_v<std::decay_t<F>, attributes>) [[nodiscard]] TULLE_INLINE
    auto spawn(F&& callable, A&&... arguments) {
    return spawn(attributes{}, std::forward<F>(callable), std::forward<A>(arguments)...);
}

// Starts a thread that nobody joins. An exception that leaves it ends the program.
template <class F, class... A>
TULLE_INLINE void spawn_detached(attributes chosen, F&& callable, A&&... arguments) {
    auto bound = detail::bind_call(std::forward<F>(callable), std::forward<A>(arguments)...);
    detail::start_thread(detail::make_thread(chosen, std::move(bound), true), true,
                         chosen.child_first);
}
template <class F, class... A>
requires(!std::is_same_v<std::decay_t<F>, attributes>) TULLE_INLINE
    void spawn_detached(F&& callable, A&&... arguments) {
    spawn_detached(attributes{}, std::forward<F>(callable), std::forward<A>(arguments)...);
}

} // namespace tulle
