// SPDX-License-Identifier: Apache-2.0
// Threads of which at most so many are alive at a time, altogether or on each shepherd, or that
// hold at most so many bytes, and what happens when one more is spawned. Each policy lets work go
// on with memory for that many: the argument is in src/sched/modes/stack_shortage.md.
// With a limit for each shepherd and when_full::block these are the "futures" of the paper:
// spawn_into() is its future_fork().
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), sections 2.2 and 3.2.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/permit_holder.hpp>
#include <tulle/detail/thread_core.hpp>
#include <tulle/feb.hpp>
#include <tulle/thread.hpp>
#include <tulle/wait_limit.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tulle {

// What spawn() does in a group that has as many threads alive as it may.
enum class when_full {
    run_inline, // runs the callable itself, at once, as a function call
    create,     // creates a thread or fails: throws std::system_error (EAGAIN); never waits
    // Keeps it as a record of 104 bytes, which becomes a thread when one of the group ends. A
    // thread of the group, which holds a permit that the record might wait for, runs it inline.
    record,
    // Waits until a permit is free. A thread of the group, which holds one itself, lends that to
    // the new one, and waits until it has one again: its own, when the new one ends, or another
    // that comes free.
    block
};

// For a spawn_group: so many threads on each shepherd, instead of altogether.
struct per_shepherd {
    std::size_t most; // at least 1
};

// For a spawn_group: its threads hold at most so many bytes altogether. A thread holds what
// holding() says with its callable; without it, what the callable has captured, its record, and a
// stack of the default size. A thread of the group that spawns one more when there are too few
// calls that itself, except with when_full::create: it would hold its own while it waited. So a
// thread says what it holds with all that it may call.
struct bytes_held {
    std::size_t most; // at least 1
};

// For a spawn_group: memory for so many depth-first walks through a tree of which each node spawns
// its children into the group. A walk is a chain of nested spawns: at most `levels` of them, the
// one from outside of the group included, and each holds at most `bytes_each_level` of its own. A
// thread starts only with bytes for all levels that may be below it. So it can always go to the
// bottom, by calls: together they hold `walks * levels * bytes_each_level` at most, and more
// threads than `walks` run where subtrees are small. Who waits from outside comes before threads of
// the group that would spread out. A spawn that is deeper throws std::length_error.
struct depth_first_walks {
    std::size_t walks;            // at least 1
    std::size_t levels;           // at least 1
    std::size_t bytes_each_level; // at least 1
};

namespace detail {

struct group_core;  // src/group/group_core.hpp
struct group_grant; // likewise

template <class F> struct holding_call {
    std::size_t bytes;
    F callable;

    template <class... A> decltype(auto) operator()(A&&... arguments) {
        return detail::invoke(callable, std::forward<A>(arguments)...);
    }
};

struct held_bytes {
    std::size_t count = 0;
    bool is_stated = false;
};
template <class F> inline constexpr bool says_bytes = false;
template <class F> inline constexpr bool says_bytes<holding_call<F>> = true;
template <class F> held_bytes bytes_of(F const&) noexcept { return {sizeof(F), false}; }
template <class F> held_bytes bytes_of(holding_call<F> const& call) noexcept {
    return {call.bytes, true};
}

// A thread of a group while it runs; this object lies in its frame, so that a wait in spawn() knows
// whose permit it may lend.
struct group_member : permit_holder {
    group_core* group = nullptr;
    group_member* outer = nullptr; // on the same stack
    group_grant* grant = nullptr;  // with a limit by bytes, if it is a thread
    std::size_t level = 0;         // of a depth-first walk
};

enum class group_permit {
    none,    // there is none: the spawner runs the callable inline
    refused, // there is none: nothing is to be done
    own,     // the thread's own
    kept,    // none yet: the callable is kept as a record
    lent     // that of the spawner
};

// What a thread is admitted with.
struct group_ticket {
    held_bytes bytes;             // as the spawner says
    group_grant* grant = nullptr; // with a limit by bytes
    std::size_t level = 0;        // of a depth-first walk
    group_permit permit = group_permit::none;
    int shepherd = -1;      // where it is to run
    std::size_t column = 0; // of its permit; `kept`: the wanted one
    alignas(8) std::byte lender[120];
};

TULLE_API group_core* open_group(std::size_t most, when_full policy);
TULLE_API group_core* open_group(per_shepherd most, when_full policy);
TULLE_API group_core* open_group(bytes_held most, when_full policy);
TULLE_API group_core* open_group(depth_first_walks walks, when_full policy);
TULLE_API void close_group(group_core* g) noexcept;
// Waits until the limit is reached, or as the policy says if there is none; or throws. Then
// start_in_group or leave_group follows, but for `none` and `refused`.
TULLE_API void enter_group(group_core& g, group_ticket& t, int shepherd);
TULLE_API void enter_group_until(group_core& g, group_ticket& t, int shepherd, limit until);
// A word for the thread: the group, or the lender of its permit, or its grant.
[[nodiscard]] TULLE_API std::uintptr_t group_of(group_core& g, group_ticket& t) noexcept;
TULLE_API void start_in_group(group_core& g, thread_core* t, group_ticket& ticket) noexcept;
TULLE_API void leave_group(group_core& g, group_ticket& ticket) noexcept;
// There is no memory for a thread: throws if the policy is to fail.
TULLE_API void refuse_in_group(group_core const& g);
TULLE_API void begin_member(std::uintptr_t word, group_member& self, int shepherd) noexcept;
// This is the last access to the group, if it was the last thread.
TULLE_API void end_member(group_member& self) noexcept;
// The same for a callable that the spawner runs itself.
TULLE_API void begin_inline(group_core& g, group_member& self, group_ticket const& ticket) noexcept;
TULLE_API void end_inline(group_member& self) noexcept;
TULLE_API void keep_group_exception(group_core& g) noexcept; // the one in flight
TULLE_API void join_group(group_core& g);
TULLE_API std::size_t group_size(group_core const& g) noexcept;
TULLE_API std::size_t bytes_held_by(group_core const& g) noexcept;

// The body of a thread in a group.
template <class F> struct group_body {
    std::uintptr_t word; // group_of()
    F callable;

    void operator()() noexcept {}
    void run(int shepherd) noexcept {
        group_member self;
        begin_member(word, self, shepherd);
        run(*self.group, callable);
        end_member(self);
    }
    static void run_inline(group_core& g, F& callable, group_ticket const& ticket) noexcept {
        group_member self;
        begin_inline(g, self, ticket);
        run(g, callable);
        end_inline(self);
    }
    static void run(group_core& g, F& callable) noexcept {
        F taken(std::move(callable)); // gone before the thread counts as ended
        TULLE_TRY { static_cast<void>(taken()); }
        TULLE_CATCH(...) { keep_group_exception(g); }
    }
    static void run_thread(thread_core* t) {
        using body = thread_body<group_body>;
        int const shepherd = t->shepherd;
        group_body own = body::find(t).take_callable();
        body::free_closure(t);
        retire_thread(t);
        own.run(shepherd);
    }
};

struct group_access; // src/capi/group.cpp

// The body of a thread whose result is a full/empty word, empty meanwhile.
template <feb::word T, class F> struct word_filler {
    T* result;
    F callable;

    void operator()() {
        TULLE_TRY { feb::write_f(*result, detail::invoke(callable)); }
        TULLE_CATCH(...) {
            feb::fill(*result);
            TULLE_RETHROW;
        }
    }
};

} // namespace detail

// The callable for a thread that holds so many bytes (bytes_held). Other groups take no notice.
//   group.spawn(tulle::holding(image.bytes(), [&image] { decode(image); }));
template <class F> [[nodiscard]] auto holding(std::size_t bytes, F&& callable) {
    return detail::holding_call<std::decay_t<F>>{bytes, std::forward<F>(callable)};
}

// Not copied, not moved. Contexts: spawn() by any thread of the process, also by threads of the
// group; join() and the destructor by one thread that is not of the group.
class spawn_group {
public:
    // Errors: std::invalid_argument: `most` is 0; the walks hold 0 bytes, or more than a size_t;
    // std::bad_alloc. The second and the third form start the run time if need be, and what that
    // throws.
    explicit spawn_group(std::size_t most, when_full policy = when_full::run_inline)
        : m_core(detail::open_group(most, policy)) {}
    explicit spawn_group(per_shepherd most, when_full policy = when_full::run_inline)
        : m_core(detail::open_group(most, policy)) {}
    explicit spawn_group(bytes_held most, when_full policy = when_full::run_inline)
        : m_core(detail::open_group(most, policy)) {}
    // With when_full::run_inline a spawner from outside may walk besides, with memory of its own.
    explicit spawn_group(depth_first_walks walks, when_full policy = when_full::block)
        : m_core(detail::open_group(walks, policy)) {}
    spawn_group(spawn_group const&) = delete;
    spawn_group& operator=(spawn_group const&) = delete;

    // Starts `callable()` as a thread of the group, or does as the policy says; its result is
    // dropped, an exception goes to join().
    // With a limit for each shepherd it runs on the one that has the fewest. Without memory for a
    // thread it runs inline, or fails, if that is the policy.
    // Errors: std::system_error (EAGAIN) with when_full::create; (EINVAL): it alone holds more than
    // all may; std::length_error: a walk that is deeper than reserved; what copying the callable
    // throws.
    // Memory ordering: what happens before spawn() happens before the callable runs.
    template <class F> TULLE_INLINE void spawn(F&& callable) {
        spawn_at(-1, std::forward<F>(callable));
    }
    // spawn() on workers of this shepherd; -1: of any. What runs inline, or with a lent permit of a
    // limit for each shepherd, runs where the spawner is.
    // Errors: those of spawn(); std::system_error (EINVAL): no such shepherd.
    template <class F> TULLE_INLINE void spawn_at(int shepherd, F&& callable) {
        ticket held(*m_core, detail::bytes_of(callable));
        detail::enter_group(*m_core, held, shepherd);
        start(held, std::forward<F>(callable));
    }
    // The forms with a limit, whatever the policy is. False: there was no permit until the limit
    // was reached; nothing is done, and the callable is as it was. Without memory for a thread they
    // do as spawn() does.
    template <class F>
    [[nodiscard]] TULLE_INLINE bool spawn(wait_limit const& limit, F&& callable) {
        return spawn_before(limit.get(), -1, std::forward<F>(callable));
    }
    template <class F> [[nodiscard]] TULLE_INLINE bool try_spawn(F&& callable) {
        return spawn_before(0, -1, std::forward<F>(callable));
    }
    template <class Rep, class Period, class F>
    [[nodiscard]] TULLE_INLINE bool try_spawn_for(std::chrono::duration<Rep, Period> const& timeout,
                                                  F&& callable) {
        return spawn_before(detail::deadline_after(timeout), -1, std::forward<F>(callable));
    }
    template <class Clock, class Duration, class F>
    [[nodiscard]] TULLE_INLINE bool
    try_spawn_until(std::chrono::time_point<Clock, Duration> const& deadline, F&& callable) {
        return spawn_before(detail::deadline_at(deadline), -1, std::forward<F>(callable));
    }
    template <class F> [[nodiscard]] TULLE_INLINE bool try_spawn_at(int shepherd, F&& callable) {
        return spawn_before(0, shepherd, std::forward<F>(callable));
    }
    template <class Rep, class Period, class F>
    [[nodiscard]] TULLE_INLINE bool
    try_spawn_at_for(int shepherd, std::chrono::duration<Rep, Period> const& timeout,
                     F&& callable) {
        return spawn_before(detail::deadline_after(timeout), shepherd, std::forward<F>(callable));
    }

    // spawn() with a result: the word is empty from now on, and full when the thread has written it
    // (<tulle/feb.hpp>). If the callable throws, the word is filled as it is. Errors: those of
    // spawn(); std::bad_alloc, with nothing done.
    template <feb::word T, class F> TULLE_INLINE void spawn_into(T& result, F&& callable) {
        ticket held(*m_core, detail::bytes_of(callable));
        detail::enter_group(*m_core, held, -1);
        start_into(held, result, std::forward<F>(callable));
    }
    template <feb::word T, class F>
    TULLE_INLINE void spawn_into_at(int shepherd, T& result, F&& callable) {
        ticket held(*m_core, detail::bytes_of(callable));
        detail::enter_group(*m_core, held, shepherd);
        start_into(held, result, std::forward<F>(callable));
    }
    template <feb::word T, class F>
    [[nodiscard]] TULLE_INLINE bool try_spawn_into(T& result, F&& callable) {
        return spawn_into_before(0, -1, result, std::forward<F>(callable));
    }
    template <feb::word T, class Rep, class Period, class F>
    [[nodiscard]] TULLE_INLINE bool
    try_spawn_into_for(std::chrono::duration<Rep, Period> const& timeout, T& result, F&& callable) {
        return spawn_into_before(detail::deadline_after(timeout), -1, result,
                                 std::forward<F>(callable));
    }

    // Waits for all threads of the group, and those kept; then throws the exception of one that
    // threw. The group can be used again.
    // Memory ordering: all that the threads did happens before the return.
    void join() { detail::join_group(*m_core); }

    // Joins. An exception that nobody has taken is dropped.
    ~spawn_group() { detail::close_group(m_core); }

    // Threads that are alive, started or about to start, without the records: a snapshot.
    [[nodiscard]] std::size_t size() const noexcept { return detail::group_size(*m_core); }
    // Bytes that they hold, or have reserved, in a group that counts these; else 0. A snapshot.
    [[nodiscard]] std::size_t held() const noexcept { return detail::bytes_held_by(*m_core); }

private:
    friend struct detail::group_access;

    // A permit of the group that no thread has yet.
    struct ticket : detail::group_ticket {
        detail::group_core& group;

        ticket(detail::group_core& g, detail::held_bytes stated) noexcept : group(g) {
            this->bytes = stated;
        }
        ticket(ticket const&) = delete;
        ticket& operator=(ticket const&) = delete;
        [[nodiscard]] bool has_permit() const noexcept {
            return permit != detail::group_permit::none && permit != detail::group_permit::refused;
        }
        void leave() noexcept {
            if (has_permit()) detail::leave_group(group, *this);
            permit = detail::group_permit::none;
        }
        ~ticket() { leave(); }
    };
    template <class F>
    TULLE_INLINE bool spawn_before(detail::limit until, int shepherd, F&& callable) {
        ticket held(*m_core, detail::bytes_of(callable));
        detail::enter_group_until(*m_core, held, shepherd, until);
        if (held.permit == detail::group_permit::refused) return false;
        start(held, std::forward<F>(callable));
        return true;
    }
    template <feb::word T, class F>
    TULLE_INLINE bool spawn_into_before(detail::limit until, int shepherd, T& result,
                                        F&& callable) {
        ticket held(*m_core, detail::bytes_of(callable));
        detail::enter_group_until(*m_core, held, shepherd, until);
        if (held.permit == detail::group_permit::refused) return false;
        start_into(held, result, std::forward<F>(callable));
        return true;
    }
    template <feb::word T, class F>
    TULLE_INLINE void start_into(ticket& held, T& result, F&& callable) {
        feb::empty(result);
        TULLE_TRY {
            start(held,
                  detail::word_filler<T, std::decay_t<F>>{&result, std::forward<F>(callable)});
        }
        TULLE_CATCH(...) {
            feb::fill(result);
            TULLE_RETHROW;
        }
    }
    template <class F> TULLE_INLINE void start(ticket& held, F&& callable) {
        using body = detail::group_body<std::decay_t<F>>;
        if (held.permit == detail::group_permit::none) {
            std::decay_t<F> own(std::forward<F>(callable));
            return body::run_inline(*m_core, own, held);
        }
        body made{detail::group_of(*m_core, held), std::forward<F>(callable)};
        if (detail::thread_core* const t = make(made)) {
            detail::start_in_group(*m_core, t, held);
            held.permit = detail::group_permit::none;
            return;
        }
        held.leave();
        detail::refuse_in_group(*m_core);
        body::run_inline(*m_core, made.callable, held);
    }
    // Null: no memory; the body is as it was. Inlined, as the record notes where it is made.
    template <class Body> TULLE_INLINE static detail::thread_core* make(Body& body) {
        detail::thread_core* t = nullptr;
        TULLE_TRY {
            t = detail::new_thread({});
            detail::thread_body<Body>::open(t, std::move(body));
        }
        TULLE_CATCH(...) {
            if (t != nullptr) detail::discard_thread(t);
            return give_up();
        }
        t->run = &Body::run_thread;
        t->detached = true;
        t->close = &detail::thread_body<Body>::close;
        return t;
    }
    // Called in a handler: want of memory is not the caller's fault, all else is thrown again.
    static detail::thread_core* give_up() {
        TULLE_TRY { TULLE_RETHROW; }
        TULLE_CATCH(std::bad_alloc const&) { return nullptr; }
        TULLE_CATCH(std::system_error const&) { return nullptr; }
    }

    detail::group_core* m_core;
};

} // namespace tulle
