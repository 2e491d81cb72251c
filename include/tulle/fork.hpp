// SPDX-License-Identifier: Apache-2.0
// fork and join: the cheapest way to start a thread. A forked thread that nobody steals runs at its
// join as a plain function call;
// one that blocks, there or on a thief, becomes a full thread by itself.
#pragma once

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/closure.hpp>
#include <tulle/detail/current.hpp>
#include <tulle/detail/exceptions.hpp>

#include <exception>

namespace tulle {

namespace detail {

// The calling thread has no deque yet.
TULLE_API TULLE_COLD deque_front* open_deque_cold() noexcept;
// Wake a sleeper, or open a larger deque.
TULLE_API TULLE_COLD void published_cold(deque_front* deque) noexcept;
TULLE_API TULLE_NOINLINE bool join_cold(deque_front* deque,
                                        // true: the caller runs it; false: a thief did, it is done
                                        record* slot) noexcept;
// The exception of a stolen thread, if it has one.
TULLE_API TULLE_COLD void rethrow_cold(record* slot);

// Where the callable lies: in the record, or, when it is large, in the frame that forks, with its
// address in the record.
template <class F, bool InRecord> struct child_storage {
    template <class G> TULLE_INLINE void put(record* slot, G&& callable) noexcept {
        find(slot).set(std::forward<G>(callable));
    }
    TULLE_INLINE static closure<F>& find(record* slot) noexcept {
        return *std::launder(reinterpret_cast<closure<F>*>(slot->body));
    }
};
template <class F> struct child_storage<F, false> {
    closure<F> frame;
    TULLE_INLINE void point_from(record* slot) noexcept {
        ::new (static_cast<void*>(slot->body)) closure<F>*(&frame);
    }
    static closure<F>& find(record* slot) noexcept {
        return **std::launder(reinterpret_cast<closure<F>**>(slot->body));
    }
};

} // namespace detail

// A forked thread. Lives in the scope that forked it; neither copied nor moved.
// Joining in reverse order of forking is the fast case; any order is correct.
template <class F> class [[nodiscard("a child that is dropped at once is joined at once")]] child {
public:
    using result_type = std::invoke_result_t<F&>;

private:
    // The slot is free when the result is taken. What copies it, not moved, may fork into the slot.
    static constexpr bool k_result_moves =
        std::is_void_v<result_type> || std::is_nothrow_move_constructible_v<result_type>;
    static constexpr bool k_in_record =
        k_result_moves && detail::fits_inline<F, detail::k_body_size>;
    using storage = detail::child_storage<F, k_in_record>;

public:
    // What fork() does.
    template <class G> TULLE_INLINE explicit child(G && callable) {
        if constexpr (!k_in_record) {
            m_storage.frame.set(std::forward<G>(callable));
            open();
            m_storage.point_from(m_slot);
        } else if constexpr (detail::is_copied<F, G>) {
            F copy(std::forward<G>(callable));
            open();
            m_storage.put(m_slot, std::move(copy));
        } else {
            open();
            m_storage.put(m_slot, std::forward<G>(callable));
        }
        m_slot->run = &run;
        if (TULLE_UNLIKELY(!m_deque->publish(m_slot))) detail::published_cold(m_deque);
    }
    child(child const&) = delete;
    child& operator=(child const&) = delete;

    // Waits for the thread and returns its result; throws what it threw. Call it once, from the
    // thread that forked.
    // A child that nobody has stolen runs as a call: it sees the exceptions that its parent handles
    // (std::current_exception) or that unwind its parent's stack. A child of tulle::spawn does not.
    // Memory ordering: all that the child did happens before the return.
    TULLE_INLINE result_type join() {
        m_joined = true;
        if (TULLE_LIKELY(m_deque->retract(m_slot)) || detail::join_cold(m_deque, m_slot)) {
            F f = storage::find(m_slot).take_callable();
            return f();
        }
        return finish(m_slot);
    }

    // Not joined: joins, and throws what it threw. While another exception unwinds, the child is
    // joined too, as its work may be what a destructor does then, and sees no exception; only one
    // of its own is dropped. That is so as well if the other one was thrown before the fork, and
    // the forking function is part of a destructor which that one runs: join() where the child's
    // exception matters. (How many exceptions unwind would have to be asked for at each fork.) To
    // cancel children: a tulle::scope.
    TULLE_INLINE ~child() noexcept(false) {
        if (TULLE_UNLIKELY(!m_joined)) drop_cold(m_deque, m_slot);
    }

private:
    TULLE_INLINE void open() noexcept {
        m_deque = detail::current_deque();
        if (TULLE_UNLIKELY(m_deque == nullptr)) m_deque = detail::open_deque_cold();
        m_slot = m_deque->top();
    }
    static void run(detail::record * slot) noexcept {
        TULLE_TRY { storage::find(slot).evaluate(); }
        TULLE_CATCH(...) { slot->exception = detail::caught_exception(); }
    }
    TULLE_NOINLINE static result_type finish(detail::record * slot) {
        if (TULLE_UNLIKELY(slot->exception != nullptr)) detail::rethrow_cold(slot);
        return storage::find(slot).take_result();
    }
    struct left_behind {
        detail::deque_front* deque;
        detail::record* slot;

        void join() {
            if (deque->retract(slot) || detail::join_cold(deque, slot)) {
                F f = storage::find(slot).take_callable();
                static_cast<void>(f());
            } else {
                static_cast<void>(finish(slot));
            }
        }
    };
    TULLE_COLD static void drop_cold(detail::deque_front * deque, detail::record * slot) {
        left_behind child{deque, slot};
        if (std::uncaught_exceptions() == 0) return child.join();
        static_cast<void>(detail::call_apart(
            [](void* left) { static_cast<left_behind*>(left)->join(); }, &child));
    }

    detail::deque_front* m_deque;
    detail::record* m_slot;
    bool m_joined = false;
    [[no_unique_address]] storage m_storage;
};

// Starts `callable()` as a thread. Contexts: any thread of the process; the first use starts the
// run time.
template <class F> [[nodiscard]] TULLE_INLINE child<std::decay_t<F>> fork(F&& callable) {
    return child<std::decay_t<F>>(std::forward<F>(callable));
}

// Runs all callables, possibly in parallel, and returns when all have returned; throws the first
// exception in the order of arguments.
template <class F> TULLE_INLINE void parallel_invoke(F&& f) {
    static_cast<void>(std::forward<F>(f)());
}

template <class F, class G, class... Rest>
TULLE_INLINE void parallel_invoke(F&& f, G&& g, Rest&&... rest) {
    auto others = fork([&] { parallel_invoke(std::forward<G>(g), std::forward<Rest>(rest)...); });
    static_cast<void>(std::forward<F>(f)());
    others.join();
}

} // namespace tulle
