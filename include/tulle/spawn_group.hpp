// SPDX-License-Identifier: Apache-2.0
// Threads of which at most so many are alive at a time, and what happens when one more is spawned. Each policy lets work go on with memory
// for that many threads: the argument is in docs/protocols/exhaustion.md.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 2.2.
#pragma once

#include <tulle/detail/thread_core.hpp>
#include <tulle/thread.hpp>

#include <cstddef>
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
    record,     // keeps it as a record of 104 bytes, which becomes a thread when one of the group ends. A thread of the group, which holds
                // a place that the record might wait for, runs it inline
    block       // waits until a thread of the group ends. A thread of the group, which holds a place itself, lends that to the new one and
                // waits until this one has ended
};

namespace detail {

struct group_core; // src/group/group_core.hpp

// A thread of a group while it runs, in its frame: so that a wait in spawn() knows whose places it may lend.
struct group_member {
    group_core* of = nullptr;
    void* stack = nullptr;
    thread_id id = 0;
    group_member* next = nullptr;
    group_member* prev = nullptr;
};

enum class group_place {
    none, // the spawner runs it inline
    own,  // taken
    kept, // as a record
    lent  // the spawner's
};

TULLE_API group_core* open_group(std::size_t most, when_full policy);
TULLE_API void close_group(group_core* g) noexcept;
// May wait, or throw. If not `none`, start_in_group or leave_group follows.
TULLE_API group_place enter_group(group_core& g);
TULLE_API void start_in_group(group_core& g, thread_core* t, group_place at) noexcept;
TULLE_API void leave_group(group_core& g, group_place at) noexcept;
TULLE_API void refuse_in_group(group_core const& g); // no memory for a thread: throws if the policy is to fail
TULLE_API void begin_member(group_core& g, group_member& self) noexcept;
TULLE_API void end_member(group_core& g, group_member& self) noexcept; // the last access to the group, if it was the last thread
TULLE_API void keep_group_exception(group_core& g) noexcept;           // the one in flight
TULLE_API void join_group(group_core& g);
TULLE_API std::size_t group_size(group_core const& g) noexcept;

// The body of a thread in a group.
template <class F> struct group_body {
    group_core* of;
    F callable;

    void operator()() noexcept {
        group_core& g = *of;
        group_member self;
        begin_member(g, self);
        run(g, callable);
        end_member(g, self);
    }
    static void run(group_core& g, F& callable) noexcept {
        F taken(std::move(callable)); // gone before the thread counts as ended
        try {
            static_cast<void>(taken());
        } catch (...) {
            keep_group_exception(g);
        }
    }
};

} // namespace detail

// Not copied, not moved. Contexts: spawn() by any thread of the process, also by threads of the group; join() and the destructor by one
// thread that is not of the group.
class spawn_group {
public:
    // Errors: std::invalid_argument: `most` is 0; std::bad_alloc.
    explicit spawn_group(std::size_t most, when_full policy = when_full::run_inline) : m_core(detail::open_group(most, policy)) {}
    spawn_group(spawn_group const&) = delete;
    spawn_group& operator=(spawn_group const&) = delete;

    // Starts `callable()` as a thread of the group, or does as the policy says; its result is dropped, an exception goes to join().
    // Without memory for a thread it runs inline, or fails, if that is the policy.
    // Errors: std::system_error (EAGAIN) with when_full::create; what copying the callable throws.
    // Memory ordering: what happens before spawn() happens before the callable runs.
    template <class F> TULLE_INLINE void spawn(F&& callable) {
        using body = detail::group_body<std::decay_t<F>>;
        detail::group_place const at = detail::enter_group(*m_core);
        if (at == detail::group_place::none) {
            std::decay_t<F> own(std::forward<F>(callable));
            return body::run(*m_core, own);
        }
        ticket held{*m_core, at};
        body made{m_core, std::forward<F>(callable)};
        if (detail::thread_core* const t = make(made)) return held.start(t);
        held.leave();
        detail::refuse_in_group(*m_core);
        body::run(*m_core, made.callable);
    }

    // Waits for all threads of the group, and those kept; then throws the exception of one that threw. The group can be used again.
    // Memory ordering: all that the threads did happens before the return.
    void join() { detail::join_group(*m_core); }

    // Joins. An exception that nobody has taken is dropped.
    ~spawn_group() { detail::close_group(m_core); }

    // Threads that are alive, started or about to start, without the records: a snapshot.
    [[nodiscard]] std::size_t size() const noexcept { return detail::group_size(*m_core); }

private:
    // A place in the group that no thread has yet.
    struct ticket {
        detail::group_core& of;
        detail::group_place at;

        void start(detail::thread_core* t) noexcept { detail::start_in_group(of, t, std::exchange(at, detail::group_place::none)); }
        void leave() noexcept {
            if (at != detail::group_place::none) detail::leave_group(of, std::exchange(at, detail::group_place::none));
        }
        ~ticket() { leave(); }
    };
    // Null: no memory; the body is as it was.
    template <class Body> TULLE_INLINE static detail::thread_core* make(Body& body) { // inline, as the record notes where it is made
        detail::thread_core* t = nullptr;
        try {
            t = detail::new_thread({});
            detail::thread_body<Body>::open(t, std::move(body));
        } catch (...) {
            if (t != nullptr) detail::discard_thread(t);
            return give_up();
        }
        t->run = &detail::thread_body<Body>::run_detached;
        t->detached = true;
        t->close = &detail::thread_body<Body>::close;
        return t;
    }
    // In a handler: only want of memory is none of the caller's business.
    static detail::thread_core* give_up() {
        try {
            throw;
        } catch (std::bad_alloc const&) {
            return nullptr;
        } catch (std::system_error const&) {
            return nullptr;
        }
    }

    detail::group_core* m_core;
};

} // namespace tulle
