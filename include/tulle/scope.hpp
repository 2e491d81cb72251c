// SPDX-License-Identifier: Apache-2.0
// A scope with any number of forked threads, all joined at its end.
#pragma once

#include <tulle/detail/exceptions.hpp>
#include <tulle/fork.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace tulle {

namespace detail {

// Gives back large deques that a burst of children has opened.
TULLE_API TULLE_COLD void close_empty_deques_cold() noexcept;

// Ends the program where this deque, which has children of a scope, is not the caller's.
TULLE_API TULLE_COLD void check_scope_cold(deque_front const* of_scope) noexcept;

// The record of a child without a result. A large callable lies on the heap.
template <class F> struct scope_body {
    static constexpr bool k_in_record = fits_inline<F, k_body_size>;

    template <class G> TULLE_INLINE static void open(record* slot, G&& callable) {
        if constexpr (k_in_record)
            ::new (static_cast<void*>(slot->body)) F(std::forward<G>(callable));
        else
            ::new (static_cast<void*>(slot->body)) F*(new F(std::forward<G>(callable)));
    }
    static F take(record* slot) {
        if constexpr (k_in_record) {
            F& stored = *std::launder(reinterpret_cast<F*>(slot->body));
            F f(std::move(stored));
            stored.~F();
            return f;
        } else {
            std::unique_ptr<F> const stored(*std::launder(reinterpret_cast<F**>(slot->body)));
            return F(std::move(*stored));
        }
    }
    static void run(record* slot) noexcept {
        if (TULLE_UNLIKELY(slot->exception != nullptr)) return drop(slot); // cancelled
        TULLE_TRY {
            F f = take(slot);
            static_cast<void>(f());
        }
        TULLE_CATCH(...) { slot->exception = caught_exception(); }
    }
    // A destructor of the callable may have a scope of its own, which uses the slot again.
    TULLE_COLD static void drop(record* slot) noexcept {
        slot->exception = nullptr;
        TULLE_TRY { [[maybe_unused]] F const dropped = take(slot); }
        TULLE_CATCH(...) { slot->exception = caught_exception(); }
    }
};

} // namespace detail

// Not copied, not moved; used by the thread that made it: its threads make scopes of their own, or
// spawn into a spawn_group.
class scope {
public:
    scope() noexcept = default;
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

    // Starts `callable()`; its result is dropped. A child costs 64 bytes until it has run.
    // Errors: what copying the callable throws; std::bad_alloc when it is larger than 40 bytes.
    template <class F> TULLE_INLINE void spawn(F&& callable) {
        if constexpr (detail::is_copied<std::decay_t<F>, F>)
            start(std::decay_t<F>(std::forward<F>(callable)));
        else
            start(std::forward<F>(callable));
    }

    // Waits for all children so far; when all have ended, throws the exception of one of those that
    // threw.
    // Memory ordering: all that the children did happens before the return.
    void join() {
        join_runs(false);
        if (m_exception != nullptr) std::rethrow_exception(std::exchange(m_exception, nullptr));
    }

    // Joins, and throws like join(). While another exception unwinds: cancels the children that
    // have not started, waits for the others.
    ~scope() noexcept(false) {
        if (std::uncaught_exceptions() > m_uncaught)
            join_runs(true);
        else
            join();
    }

private:
    struct cancelled {}; // never thrown: tells a body that it is to be dropped

    // Children in neighbouring slots of one deque. A full deque, or another scope's children in
    // between, begin a new run.
    struct run_of_slots {
        detail::deque_front* deque = nullptr;
        detail::record* begin = nullptr;
        detail::record* end = nullptr;
    };

    template <class F> TULLE_INLINE void start(F&& callable) {
        using body = detail::scope_body<std::decay_t<F>>;
        detail::deque_front* deque = detail::current_deque();
        if (TULLE_UNLIKELY(deque == nullptr)) deque = detail::open_deque_cold();
        detail::record* const slot = deque->top();
        if (TULLE_UNLIKELY(slot != m_run.end || deque != m_run.deque)) begin_run(deque, slot);
        body::open(slot, std::forward<F>(callable));
        slot->run = &body::run;
        m_run.end = slot + 1;
        if (TULLE_UNLIKELY(!deque->publish(slot))) detail::published_cold(deque);
    }
    TULLE_COLD void begin_run(detail::deque_front* deque, detail::record* slot) {
        if (m_run.begin != m_run.end) {
            detail::check_scope_cold(m_run.deque);
            m_older.push_back(m_run);
        }
        m_run = {deque, slot, slot};
    }
    void join_runs(bool cancel) {
        join_run(m_run, cancel);
        if (TULLE_LIKELY(m_older.empty())) return;
        for (; !m_older.empty(); m_older.pop_back()) join_run(m_older.back(), cancel);
        detail::close_empty_deques_cold();
    }
    void join_run(run_of_slots& run, bool cancel) {
        while (run.end != run.begin) join_child(run.deque, --run.end, cancel);
    }
    TULLE_INLINE void join_child(detail::deque_front* deque, detail::record* slot, bool cancel) {
        // A record below others gets another one when it is joined, for thieves.
        auto* const run = slot->run;
        if (TULLE_LIKELY(deque->retract(slot)) || detail::join_cold(deque, slot)) {
            if (TULLE_UNLIKELY(cancel)) slot->exception = std::make_exception_ptr(cancelled{});
            run(slot);
        }
        if (TULLE_UNLIKELY(slot->exception != nullptr)) keep_exception(slot);
    }
    TULLE_COLD void keep_exception(detail::record* slot) noexcept {
        m_exception = std::exchange(slot->exception, nullptr);
    }

    run_of_slots m_run;
    std::vector<run_of_slots> m_older;
    std::exception_ptr m_exception;
    int m_uncaught = std::uncaught_exceptions();
};

} // namespace tulle
