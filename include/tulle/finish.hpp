// SPDX-License-Identifier: Apache-2.0
// finish: runs a body, and waits for all activities that it, or they, have started, at whatever
// place.
//   tulle::finish([](tulle::activities& all) {
//       for (tulle::place p : tulle::places()) all.async_at(p, [](int n) { ... }, 42);
//   });
// Inside an activity tulle::this_activity::async and async_at start others of the same finish.
// Contexts: any thread of the process.
// Sources: X10; distributed termination by vector counting (Saraswat and others: the X10 run time;
// src/finish/README.md).
#pragma once

#include <tulle/cancellation.hpp>
#include <tulle/detail/attributes.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/place.hpp>
#include <tulle/thread.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace tulle {

// More than one exception in a finish. what() says how many there are, and what the first of them
// says, or the beginning of that.
class exception_list : public std::runtime_error {
public:
    // Of these exceptions; made by finish(). Errors: std::bad_alloc.
    TULLE_API explicit exception_list(std::vector<std::exception_ptr> all);
    // In no order.
    [[nodiscard]] std::vector<std::exception_ptr> const& all() const noexcept { return m_all; }

private:
    std::vector<std::exception_ptr> m_all;
};

// The activities of one finish. May be used by any thread of the place where it was given out, as
// long as the finish has not ended.
class activities {
public:
    // Made by finish().
    explicit activities(detail::finish_scope& scope) noexcept : m_scope(&scope) {}

    // What the activities of a finish with a limit see at this place, and what they give to waits;
    // of another finish: of no source.
    [[nodiscard]] cancellation_token get_token() const noexcept {
        detail::cancellation* const stop = detail::stop_of(*m_scope);
        if (stop != nullptr) detail::share_cancellation(stop);
        return cancellation_token(detail::cancellation_reference(stop));
    }
    // Whether the finish is cancelled, as far as this place knows.
    [[nodiscard]] bool stop_requested() const noexcept { return get_token().stop_requested(); }
    // Cancels the finish, at all places. True: it was not yet, as far as this place knew. Errors:
    // std::logic_error: neither it nor a finish around it has a limit; std::bad_alloc.
    bool request_stop() {
        return detail::request_stop(*m_scope);
    } // NOLINT(readability-make-member-function-const)

    // A thread here, with decayed copies of callable and arguments. Errors: those of spawn().
    template <class F, class... A> void async(F&& f, A&&... arguments) {
        detail::begin_local(*m_scope);
        TULLE_TRY {
            spawn_detached(
                [of = m_scope, call = detail::bind_call(std::forward<F>(f),
                                                        std::forward<A>(arguments)...)]() mutable {
                    run(*of, call);
                });
        }
        TULLE_CATCH(...) {
            detail::cancel_local(*m_scope);
            TULLE_RETHROW;
        }
    }
    // An activity that may run at any place: here, or at a place that has nothing else to do and
    // takes it before it has begun. It must not depend on where it is. Callable and arguments
    // travel as with at(), also if it stays. Errors: std::bad_alloc; what copying throws.
    // Source: lifeline-based global load balancing (Saraswat and others, PPoPP 2011).
    template <class F, class... A> void async_any(F&& f, A&&... arguments) {
        using call = detail::remote_call<std::decay_t<F>, std::decay_t<A>...>;
        auto made = std::make_unique<detail::any_activity>(*m_scope, &run_remote<call>);
        call::put(made->arguments, f, arguments...);
        detail::start_anywhere(std::move(made));
    }
    // A thread at that place; the caller goes on. Callable and arguments travel as with at(); the
    // result is dropped. Without captures and arguments, and with such as take a few bytes, it is
    // one message. Errors: std::bad_alloc; dead_place; what copying throws.
    template <class F, class... A> void async_at(place there, F&& f, A&&... arguments) {
        using call = detail::remote_call<std::decay_t<F>, std::decay_t<A>...>;
        if (there.index() == detail::place_of(*m_scope))
            return async(std::forward<F>(f), std::forward<A>(arguments)...);
        wire_writer out(there.index());
        call::put(out, f, arguments...);
        detail::start_at(*m_scope, there.index(), &run_remote<call>, out);
    }
    template <class N, class F, class... A>
    requires detail::number_for_place<N, F, A...>
    void async_at(N, F&&, A&&...) = delete; // a place is wanted: tulle::place(1) instead of 1

private:
    template <class F> static void run(detail::finish_scope& scope, F& call) noexcept {
        detail::local_activity self(scope);
        TULLE_TRY {
            F own(std::move(call)); // gone before the activity ends
            if (!activities(scope).stop_requested()) static_cast<void>(own());
        }
        TULLE_CATCH(...) { self.add_exception(std::current_exception()); }
    }
    template <class Call> static void run_remote(wire_reader& in, detail::finish_scope& scope) {
        wire_writer dropped;
        activities(scope).stop_requested() ? Call::skip(in) : Call::run(in, dropped);
    }

    detail::finish_scope* m_scope;
};

namespace detail {

template <class F> void run_finish(finish_frame& frame, F& body) {
    activities all(frame.get());
    TULLE_TRY {
        if constexpr (std::is_invocable_v<F&, activities&>)
            detail::invoke(body, all);
        else
            detail::invoke(body);
    }
    TULLE_CATCH(...) { frame.add_exception(std::current_exception()); }
    frame.end();
}

} // namespace detail

// Runs `body()` or `body(activities&)` in the caller's thread; returns when all activities have
// ended.
// Errors, after all have ended: what one of them or the body threw; of several exception_list.
// Exceptions of other places arrive as with at(). dead_place: a place has died, and with it
// activities.
// Memory ordering: what happens in an activity happens before the return.
template <class F> void finish(F&& body) {
    detail::finish_frame frame(nullptr);
    detail::run_finish(frame, body);
}

// A finish that is cancelled when the limit is reached, by request_stop(), when an exception
// leaves an activity or the body, or with the finish around it: then activities that have not begun
// do not begin, at whatever place, and others end when they check their token, or wait with it. A
// finish in an activity of this one is cancelled with it, also if it has no limit of its own. Calls
// by at() begin all the same.
//   tulle::finish(tulle::wait_limit(1s), [](tulle::activities& all) {
//       all.async_at(p, [] { while (!tulle::this_activity::stop_requested()) ...; });
//   });
// A token of no source is a limit that is never reached. Returns, once all have ended, whether it
// was not cancelled.
// Messages: besides those of any finish, one for each time that another place begins to take part;
// if it is cancelled, two more for each such place.
template <class F> bool finish(wait_limit const& limit, F&& body) {
    detail::limit const until = limit.get();
    detail::finish_frame frame(&until);
    cancellation_token const stop = activities(frame.get()).get_token();
    detail::run_finish(frame, body);
    return !stop.stop_requested();
}

namespace this_activity {

// The activities of the finish that the calling thread belongs to: in the body of finish, and in an
// activity. Not in threads that these have spawned or forked: give them the object that finish gave
// the body.
// Errors: std::logic_error: the thread belongs to none.
[[nodiscard]] inline activities siblings() {
    detail::finish_scope* const of = detail::current_finish_scope();
    if (of == nullptr)
        TULLE_THROW(std::logic_error("tulle: the calling thread belongs to no finish"));
    return activities(*of);
}
// Of the finish that the calling thread belongs to, as those of `activities`. Of none: a token of
// no source.
[[nodiscard]] inline cancellation_token get_token() noexcept {
    detail::finish_scope* const of = detail::current_finish_scope();
    return of != nullptr ? activities(*of).get_token() : cancellation_token();
}
[[nodiscard]] inline bool stop_requested() noexcept { return get_token().stop_requested(); }
inline bool request_stop() { return siblings().request_stop(); }
template <class F, class... A> void async(F&& f, A&&... arguments) {
    siblings().async(std::forward<F>(f), std::forward<A>(arguments)...);
}
template <class F, class... A> void async_at(place there, F&& f, A&&... arguments) {
    siblings().async_at(there, std::forward<F>(f), std::forward<A>(arguments)...);
}
template <class N, class F, class... A>
requires detail::number_for_place<N, F, A...>
void async_at(N, F&&, A&&...) = delete; // a place is wanted: tulle::place(1) instead of 1
template <class F, class... A> void async_any(F&& f, A&&... arguments) {
    siblings().async_any(std::forward<F>(f), std::forward<A>(arguments)...);
}

} // namespace this_activity

} // namespace tulle
