// SPDX-License-Identifier: Apache-2.0
// fork and join over places: a thread that any worker of any place may run, if it has nothing else
// to do before the thread is joined.
//   long fib(int n) {
//       if (n < 2) return n;
//       auto older = tulle::global_fork<&fib>(n - 1);
//       long const younger = fib(n - 2);
//       return older.join() + younger;
//   }
// Only what has not begun is taken to other places. Whatever it needs comes with it, so it has no
// captures, and arguments and result can be copied byte by byte; what they refer to is in global
// memory (<tulle/global_memory.hpp>) or known by a global_ref. With one place the workers share it
// as with tulle::fork. A child process of fork(2) must not join what its parent has forked.
// Sources: Saraswat and others, "Lifeline-based global load balancing" (PPoPP 2011,
// doi:10.1145/1941553.1941582); the deque is that of tulle::fork.
#pragma once

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/global_record.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/detail/stack_attachments.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace tulle {

namespace detail {

struct global_room {
    global_deque_front* deque; // null: there is no room
    bool is_first;             // nothing else is in it
};
// `deque`: that of the calling stack, or null: it has none yet.
TULLE_API TULLE_COLD global_room find_global_room_cold(global_deque_front* deque) noexcept;
TULLE_API TULLE_COLD void global_published_cold(global_deque_front* deque) noexcept;
// As join_cold.
TULLE_API TULLE_NOINLINE bool join_global_cold(global_deque_front* deque,
                                               global_record* slot) noexcept;
// The calling stack gives its deque back, if it is empty.
TULLE_API TULLE_NOINLINE void leave_global_deque_cold() noexcept;
TULLE_API TULLE_COLD void rethrow_global_cold(global_record* slot);

TULLE_INLINE global_deque_front* current_global_deque() noexcept {
    return static_cast<global_deque_front*>(attachment(attachment_of::global_deque));
}

template <class F, class... A> struct global_call {
    using result = std::invoke_result_t<F&, A...>;
    using arguments = global_arguments<A...>;

    static_assert(is_nothing<F>, "what is forked globally has no captures: pass what it needs as "
                                 "arguments, or fork a function by "
                                 "tulle::global_fork<&function>");
    static_assert(((is_bytes<A> || is_nothing<A>)&&... && true),
                  "arguments of a global fork are copied byte by byte and mean the same at all "
                  "places: no pointers, references or objects that own "
                  "something; put these into global memory and pass a tulle::global_ptr, or use "
                  "tulle::async_at");
    static_assert(
        std::is_void_v<result> || is_bytes<result> || is_nothing<result>,
        "the result of a global fork is copied byte by byte: leave anything else in global memory");
    static_assert(sizeof(arguments) <= k_global_body_size &&
                      alignof(arguments) <= k_global_alignment,
                  "the arguments of a global fork take at most 96 bytes: put the others into "
                  "global memory and pass a tulle::global_ptr");

    static TULLE_INLINE arguments const& arguments_in(std::byte* body) noexcept {
        return *std::launder(reinterpret_cast<arguments const*>(body));
    }
    static TULLE_INLINE result call(arguments const& all) {
        F f{};
        return all.call(f);
    }
    static void run(std::byte* body) {
        arguments const own = arguments_in(body);
        if constexpr (std::is_void_v<result>) {
            call(own);
        } else {
            static_assert(sizeof(result) <= k_global_body_size &&
                              alignof(result) <= k_global_alignment,
                          "the result of a global fork takes at most 96 bytes: leave a larger one "
                          "in global memory");
            ::new (static_cast<void*>(body)) result(call(own));
        }
    }
    static TULLE_INLINE result take_result(std::byte* body) noexcept {
        if constexpr (!std::is_void_v<result>)
            return *std::launder(reinterpret_cast<result const*>(body));
    }
    // Of run(). Nobody waits for another thread that looks for it, which a child of fork(2) may not
    // have. relaxed: it is the same, whoever finds it.
    static TULLE_INLINE std::uint64_t name() noexcept {
        std::uint64_t const found = s_name.load(std::memory_order_relaxed);
        return TULLE_LIKELY(found != 0) ? found : find_name_cold();
    }

private:
    static TULLE_COLD std::uint64_t find_name_cold() noexcept {
        std::uint64_t const found =
            name_of_code(reinterpret_cast<void const*>(&run)); // NOLINT: as POSIX has it
        s_name.store(found, std::memory_order_relaxed);
        return found;
    }

    static constinit inline std::atomic<std::uint64_t> s_name{0}; // 0: not known yet
};

template <auto Function> struct global_function {
    template <class... A>
    auto operator()(A... arguments) const -> std::invoke_result_t<decltype(Function), A...> {
        return detail::invoke(Function, arguments...);
    }
};

} // namespace detail

// A globally forked thread. Lives in the scope that forked it; neither copied nor moved.
// Joining in reverse order of forking is the fast case; any order is correct.
template <class F, class... A>
class [[nodiscard("a child that is dropped at once is joined at once")]] global_child {
    using code = detail::global_call<F, A...>;

public:
    using result_type = typename code::result;

    // What global_fork() does.
    TULLE_INLINE explicit global_child(A const&... arguments)
        : m_deque(detail::current_global_deque()) {
        // relaxed: a hint
        if (TULLE_UNLIKELY(m_deque == nullptr ||
                           m_deque->top() >= m_deque->limit.load(std::memory_order_relaxed))) {
            auto const room = detail::find_global_room_cold(m_deque);
            m_deque = room.deque;
            m_is_first = room.is_first;
            if (m_deque == nullptr) {
                ::new (static_cast<void*>(m_own))
                    arguments_type(detail::gather_global(arguments...));
                return;
            }
        }
        m_slot = m_deque->top();
        ::new (static_cast<void*>(m_slot->body))
            arguments_type(detail::gather_global(arguments...));
        m_slot->code = code::name();
        if (TULLE_UNLIKELY(!m_deque->publish(m_slot))) detail::global_published_cold(m_deque);
    }
    global_child(global_child const&) = delete;
    global_child& operator=(global_child const&) = delete;

    // Waits for the thread and returns its result; throws what it threw: what another place has
    // thrown as with at(), but for one that does not fit into a message (some KiB), of which a
    // remote_error tells the beginning; and dead_place if the place that had taken it has died.
    // Call it once, from the thread that forked.
    // Memory ordering: all that the child did happens before the return.
    TULLE_INLINE result_type join() {
        m_joined = true;
        if (TULLE_LIKELY(m_deque != nullptr && m_deque->retract(m_slot))) {
            arguments_type const own = code::arguments_in(m_slot->body);
            if (TULLE_UNLIKELY(m_is_first)) detail::leave_global_deque_cold();
            return code::call(own);
        }
        return join_slowly();
    }

    // Not joined: joins, and throws what it threw. While another exception unwinds, the child is
    // joined too, as its work may be what a destructor does then; only an exception of its own is
    // dropped. In a destructor that an exception runs: as with tulle::fork.
    TULLE_INLINE ~global_child() noexcept(false) {
        if (TULLE_UNLIKELY(!m_joined)) drop_cold();
    }

private:
    using arguments_type = typename code::arguments;

    // Gives the stack's deque back when the record is not needed any more.
    struct leave {
        leave() = default;
        leave(leave const&) = delete;
        leave& operator=(leave const&) = delete;
        ~leave() { detail::leave_global_deque_cold(); }
    };
    [[nodiscard]] arguments_type take_arguments() noexcept {
        leave const afterwards;
        return code::arguments_in(m_slot->body);
    }
    TULLE_NOINLINE result_type join_slowly() {
        if (m_deque == nullptr) return code::call(code::arguments_in(m_own));
        if (detail::join_global_cold(m_deque, m_slot)) return code::call(take_arguments());
        return finish();
    }
    result_type finish() {
        leave const afterwards;
        if (TULLE_UNLIKELY(m_slot->exception != nullptr)) detail::rethrow_global_cold(m_slot);
        return code::take_result(m_slot->body);
    }
    TULLE_COLD void drop_cold() {
        if (std::uncaught_exceptions() == 0) return static_cast<void>(join());
        static_cast<void>(detail::call_apart(
            [](void* self) { static_cast<void>(static_cast<global_child*>(self)->join()); }, this));
    }

    detail::global_deque_front* m_deque;
    detail::global_record* m_slot = nullptr;
    bool m_joined = false;
    bool m_is_first = false;
    alignas(arguments_type) std::byte m_own[sizeof(arguments_type)]; // without a deque
};

// Starts `f(arguments...)` as a thread. `f`: without captures. Contexts: any thread of the process;
// the first use starts the run time.
// The thread that runs it belongs to no finish, and where it is, is left to chance. A stack has
// room for 255 that are not joined; others, and all when some hundred stacks have any, are not
// shared: their joins call them.
// Memory ordering: what happens before it happens before the call.
template <class F, class... A>
[[nodiscard]] TULLE_INLINE global_child<std::decay_t<F>, std::decay_t<A>...>
global_fork(F&& /*f*/, A&&... arguments) {
    return global_child<std::decay_t<F>, std::decay_t<A>...>(arguments...);
}
// Forks a function globally.
template <auto Function, class... A>
[[nodiscard]] TULLE_INLINE global_child<detail::global_function<Function>, std::decay_t<A>...>
global_fork(A&&... arguments) {
    return global_child<detail::global_function<Function>, std::decay_t<A>...>(arguments...);
}

} // namespace tulle
