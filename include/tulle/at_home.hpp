// SPDX-License-Identifier: Apache-2.0
// Objects of another place: the calls of mutex, barrier, signal and full_empty<T> by a global
// address, a global_ptr or a global_ref. They run at the home of the object, where threads may use
// the object itself; the caller waits, its worker does not. (Words: <tulle/global_feb.hpp>.)
//   auto const p = tulle::make_global<tulle::mutex>(home); // or a tulle::global_ref of any mutex
//   tulle::at_home const m(p);                             // at any place; travels
//   std::lock_guard const held(m);
// Contexts: any thread of the process, at any place. Memory ordering: as of the object, over all
// places.
// Errors of all: those of the object's own functions; dead_place: its home has died;
// std::bad_alloc. A place that dies while it waits has done nothing: it is not counted as arrived,
// and nothing is taken for it. Others learn of a death only by a mutex that was held: see there.
// Messages: two, four if a limit is reached; a notification one; at the home none.
#pragma once

#include <tulle/barrier.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/home_call.hpp>
#include <tulle/full_empty.hpp>
#include <tulle/global_feb.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/mutex.hpp>
#include <tulle/place.hpp>
#include <tulle/signal.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace tulle {

// Makes an object in the segment of that place, by its constructor; arguments travel. Errors:
// out_of_global_memory; what the constructor throws; those of at().
template <class T, class... A>
[[nodiscard]] global_ptr<T> make_global(place home, A const&... arguments) {
    std::uint64_t const address = detail::allocate_global(sizeof(T), home.index(), false);
    TULLE_TRY {
        detail::serve_at(
            home,
            [](detail::location<T> there, A... values) {
                ::new (&there.object()) T(std::move(values)...);
            },
            detail::location<T>{address, true}, arguments...);
    }
    TULLE_CATCH(...) {
        detail::free_global(address);
        TULLE_RETHROW;
    }
    return global_ptr<T>::at(address);
}
template <class T, class N, class... A>
requires std::is_integral_v<N>
void make_global(N, A const&...) = delete; // a place is wanted: tulle::place(1) instead of 1
// Destroys an object that nobody uses any more. Null: nothing is done. Errors: those of at() and
// free_global().
template <class T> void destroy_global(global_ptr<T> p) {
    if (!p) return;
    detail::serve_at(
        p.home(), [](detail::location<T> there) { std::destroy_at(&there.object()); },
        detail::location_of(p));
    detail::free_global(p.address());
}

namespace detail {

// For the objects that are no templates (src/team/at_home.cpp). What has a limit returns false when
// that was reached.
[[nodiscard]] TULLE_API bool lock_at(int home, location<mutex> there, limit until);
TULLE_API void unlock_at(int home, location<mutex> there);
[[nodiscard]] TULLE_API bool arrive_at(int home, location<barrier> there, limit until);
[[nodiscard]] TULLE_API bool wait_for_signal_at(int home, location<signal> there, limit until);
[[nodiscard]] TULLE_API bool try_wait_at(int home, location<signal> there);
TULLE_API void add_signalers_at(int home, location<signal> there, std::uint32_t more);
// Notifies a signal of another place, in one message, without waiting. Throws dead_place.
TULLE_API void notify_at(int home, location<signal> there);

template <class T> struct object_address {
    explicit object_address(global_ptr<T> p)
        : home(home_of(p, alignof(T))), there(location_of(p)) {}
    explicit object_address(global_ref<T> r)
        : home(home_of(r, alignof(T))), there(location_of(r)) {}

    // f(location, arguments...) there.
    template <class F, class... A> auto call(F f, A const&... arguments) const {
        return detail::serve_at(place(home), f, there, arguments...);
    }
    template <class F, class... A> auto wait(limit until, A... arguments) const {
        return call_home<F>(home, until, there, std::move(arguments)...);
    }

    int home;
    location<T> there;
};

} // namespace detail

// The calls of the object. Copies mean the same object; do not own it.
template <class T> class at_home;
template <class T> at_home(global_ptr<T>) -> at_home<T>;
template <class T> at_home(global_ref<T>) -> at_home<T>;

// Meets the requirements of std::lock_guard, std::unique_lock, std::scoped_lock. A place that
// has locked it by these calls unlocks it by these.
// Errors besides: dead_place of all that lock: a place has died that held it, and nobody knows in
// which state what it guards is. Then any place may unlock() it, once that has been seen to. A
// thread that waits for it by the calls of the object itself is not told.
template <> class at_home<mutex> {
public:
    explicit at_home(global_ptr<mutex> p) : m_object(p) {}
    explicit at_home(global_ref<mutex> r) : m_object(r) {}

    void lock() const { static_cast<void>(wait({})); }
    [[nodiscard]] bool try_lock() const { return wait(0); }
    [[nodiscard]] bool lock(wait_limit const& limit) const { return wait(limit.get()); }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return wait(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait(detail::deadline_at(deadline));
    }
    // Does nothing if the home has died. Errors: std::logic_error: the caller's place does not hold
    // it.
    void unlock() const {
        TULLE_TRY { detail::unlock_at(m_object.home, m_object.there); }
        TULLE_CATCH(dead_place const&) { // nobody will have it
        }
    }

private:
    [[nodiscard]] bool wait(detail::limit until) const {
        return detail::lock_at(m_object.home, m_object.there, until);
    }

    detail::object_address<mutex> m_object;
};

// The calls of tulle::barrier.
template <> class at_home<barrier> {
public:
    explicit at_home(global_ptr<barrier> p) : m_object(p) {}
    explicit at_home(global_ref<barrier> r) : m_object(r) {}

    void arrive_and_wait() const { static_cast<void>(wait({})); }
    [[nodiscard]] bool try_arrive_and_wait() const { return wait(0); }
    [[nodiscard]] bool arrive_and_wait(wait_limit const& limit) const { return wait(limit.get()); }
    template <class Rep, class Period>
    [[nodiscard]] bool
    arrive_and_wait_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return wait(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    arrive_and_wait_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait(detail::deadline_at(deadline));
    }

private:
    [[nodiscard]] bool wait(detail::limit until) const {
        return detail::arrive_at(m_object.home, m_object.there, until);
    }

    detail::object_address<barrier> m_object;
};

// The calls of tulle::signal.
template <> class at_home<signal> {
public:
    explicit at_home(global_ptr<signal> p) : m_object(p) {}
    explicit at_home(global_ref<signal> r) : m_object(r) {}

    // Returns at once. An error there ends the program with a message.
    void notify() const { detail::notify_at(m_object.home, m_object.there); }
    void add_signalers(std::uint32_t more) const {
        detail::add_signalers_at(m_object.home, m_object.there, more);
    }
    [[nodiscard]] bool try_wait() const {
        return detail::try_wait_at(m_object.home, m_object.there);
    }
    void wait() const { static_cast<void>(wait_until_limit({})); }
    [[nodiscard]] bool wait(wait_limit const& limit) const { return wait_until_limit(limit.get()); }
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return wait_until_limit(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait_until_limit(detail::deadline_at(deadline));
    }

private:
    [[nodiscard]] bool wait_until_limit(detail::limit until) const {
        return detail::wait_for_signal_at(m_object.home, m_object.there, until);
    }

    detail::object_address<signal> m_object;
};

// Values travel. A value that was taken is lost if the caller has no memory for it.
template <class T> class at_home<full_empty<T>> {
    static constexpr bool k_can_copy = requires(full_empty<T> const& object) { object.read_xx(); };

public:
    explicit at_home(global_ptr<full_empty<T>> p) : m_object(p) {}
    explicit at_home(global_ref<full_empty<T>> r) : m_object(r) {}

    [[nodiscard]] bool is_full() const {
        return m_object.call([](location a) { return a.object().is_full(); });
    }
    void fill() const {
        m_object.call([](location a) { a.object().fill(); });
    }
    void empty() const {
        m_object.call([](location a) { a.object().empty(); });
    }
    void purge(T const& value = T{}) const {
        m_object.call([](location a, T given) { a.object().purge(std::move(given)); }, value);
    }
    void write_f(T const& value) const {
        m_object.call([](location a, T given) { a.object().write_f(std::move(given)); }, value);
    }
    [[nodiscard]] T read_xx() const requires k_can_copy {
        return m_object.call([](location a) { return a.object().read_xx(); });
    }

    [[nodiscard]] T read_ff() const requires k_can_copy {
        return *std::move(wait<read_ff_there>({}));
    }
    [[nodiscard]] std::optional<T> read_ff(wait_limit const& limit) const requires k_can_copy {
        return wait<read_ff_there>(limit.get());
    }
    [[nodiscard]] std::optional<T> try_read_ff() const requires k_can_copy {
        return wait<read_ff_there>(0);
    }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T>
    try_read_ff_for(std::chrono::duration<Rep, Period> const& timeout) const requires k_can_copy {
        return wait<read_ff_there>(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T> try_read_ff_until(
        std::chrono::time_point<Clock, Duration> const& deadline) const requires k_can_copy {
        return wait<read_ff_there>(detail::deadline_at(deadline));
    }

    T read_fe() const { return *std::move(wait<read_fe_there>({})); }
    [[nodiscard]] std::optional<T> read_fe(wait_limit const& limit) const {
        return wait<read_fe_there>(limit.get());
    }
    [[nodiscard]] std::optional<T> try_read_fe() const { return wait<read_fe_there>(0); }
    template <class Rep, class Period>
    [[nodiscard]] std::optional<T>
    try_read_fe_for(std::chrono::duration<Rep, Period> const& timeout) const {
        return wait<read_fe_there>(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] std::optional<T>
    try_read_fe_until(std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait<read_fe_there>(detail::deadline_at(deadline));
    }

    void write_ff(T const& value) const { static_cast<void>(wait<write_ff_there>({}, value)); }
    [[nodiscard]] bool write_ff(T const& value, wait_limit const& limit) const {
        return wait<write_ff_there>(limit.get(), value);
    }
    [[nodiscard]] bool try_write_ff(T const& value) const { return wait<write_ff_there>(0, value); }
    template <class Rep, class Period>
    [[nodiscard]] bool try_write_ff_for(T const& value,
                                        std::chrono::duration<Rep, Period> const& timeout) const {
        return wait<write_ff_there>(detail::deadline_after(timeout), value);
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_write_ff_until(T const& value,
                       std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait<write_ff_there>(detail::deadline_at(deadline), value);
    }

    void write_ef(T const& value) const { static_cast<void>(wait<write_ef_there>({}, value)); }
    [[nodiscard]] bool write_ef(T const& value, wait_limit const& limit) const {
        return wait<write_ef_there>(limit.get(), value);
    }
    [[nodiscard]] bool try_write_ef(T const& value) const { return wait<write_ef_there>(0, value); }
    template <class Rep, class Period>
    [[nodiscard]] bool try_write_ef_for(T const& value,
                                        std::chrono::duration<Rep, Period> const& timeout) const {
        return wait<write_ef_there>(detail::deadline_after(timeout), value);
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_write_ef_until(T const& value,
                       std::chrono::time_point<Clock, Duration> const& deadline) const {
        return wait<write_ef_there>(detail::deadline_at(deadline), value);
    }

private:
    using request = detail::home_request;
    using location = detail::location<full_empty<T>>;

    struct read_ff_there {
        static constexpr bool k_is_held = false;
        static std::optional<T> run(request const& /*by*/, detail::limit until, location a) {
            return a.object().read_ff(wait_limit::of(until));
        }
        // It is still there.
        static void undo(std::optional<T> const& /*done*/, location /*where*/) noexcept {}
    };
    struct read_fe_there {
        static constexpr bool k_is_held = false;
        static std::optional<T> run(request const& /*by*/, detail::limit until, location a) {
            return a.object().read_fe(wait_limit::of(until));
        }
        static void undo(std::optional<T>& done, location a) {
            a.object().write_ef(*std::move(done));
        }
    };
    struct writing {
        static constexpr bool k_is_held = false;
        // It is written.
        static void undo(bool /*done*/, location /*where*/, T const& /*value*/) noexcept {}
    };
    struct write_ff_there : writing {
        static bool run(request const& /*by*/, detail::limit until, location a, T& value) {
            return a.object().write_ff(std::move(value), wait_limit::of(until));
        }
    };
    struct write_ef_there : writing {
        static bool run(request const& /*by*/, detail::limit until, location a, T& value) {
            return a.object().write_ef(std::move(value), wait_limit::of(until));
        }
    };
    template <class F, class... A>
    [[nodiscard]] auto wait(detail::limit until, A const&... value) const {
        return m_object.template wait<F>(until, value...);
    }

    detail::object_address<full_empty<T>> m_object;
};

} // namespace tulle
