// SPDX-License-Identifier: Apache-2.0
// Code that is called at another place, and the library calls under <tulle/place.hpp> and
// <tulle/finish.hpp>.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tulle::detail {

// What runs at the other place: reads a callable and its arguments, calls it, writes the result. It
// may throw what the callable throws. Its address travels as an offset in the program or library
// that it is in, so it means the same wherever these are loaded.
using remote_code = void (*)(wire_reader& arguments, wire_writer& result);

// Bytes that have come: a copy, or where the sender has put them, to be given back.
class remote_result {
public:
    remote_result() noexcept = default;
    // std::bad_alloc
    explicit remote_result(std::size_t size) : m_bytes(room_for(k_no_reader, size)), m_size(size) {}
    remote_result(payload_bytes bytes, std::size_t size) noexcept
        : m_bytes(std::move(bytes)), m_size(size) {}
    [[nodiscard]] std::byte* data() noexcept { return m_bytes.get(); } // of a copy
    [[nodiscard]] std::span<std::byte const> bytes() const noexcept {
        return {m_bytes.get(), m_size};
    }

private:
    payload_bytes m_bytes;
    std::size_t m_size = 0;
};

// Whether a callable travels: without captures it is only its type, otherwise its bytes.
template <class F> inline constexpr bool travels = is_nothing<F> || is_bytes<F>;

template <class F, class... A> struct remote_call {
    static_assert(!std::is_pointer_v<F>,
                  "a function pointer does not travel: wrap the call in a lambda");
    static_assert(travels<F>, "a callable travels to another place if it has no captures, or such "
                              "as can be copied byte by byte: pass everything else as an "
                              "argument");
    using result = std::invoke_result_t<F&, A...>;
    static_assert(!std::is_reference_v<result> && !std::is_pointer_v<result>,
                  "a reference or pointer means nothing at the place that it is returned to");
    static_assert(!is_view<std::remove_cv_t<result>>,
                  "a view is gone when the call has returned: return a container");

    static void put(wire_writer& out, F const& f, A const&... arguments) {
        out.put(f);
        out.put_all(arguments...);
    }
    static void run(wire_reader& in, wire_writer& out) {
        F f = in.get<F>();
        std::tuple<A...> arguments = in.get_all<A...>();
        auto const call = [&f](A&... each) -> result {
            return detail::invoke(f, std::move(each)...);
        };
        if constexpr (std::is_void_v<result>)
            std::apply(call, arguments);
        else
            out.put(std::apply(call, arguments));
    }
    // Reads and destroys what was sent.
    static void skip(wire_reader& in) {
        static_cast<void>(in.get<F>());
        [[maybe_unused]] std::tuple<A...> const arguments = in.get_all<A...>();
    }
};

// Code by a name that means the same at all places; 0: it is in no program or library. And back;
// null: this place does not have it.
[[nodiscard]] TULLE_API std::uint64_t name_of_code(void const* code) noexcept;
[[nodiscard]] TULLE_API void* code_of_name(std::uint64_t name) noexcept;

// Whether `tulle run` or an MPI's launcher has started this process as a place, which it has not
// become yet.
[[nodiscard]] TULLE_API bool is_asked_to_join() noexcept;

TULLE_API int here_index();
TULLE_API int place_count();        // that run threads
TULLE_API int memory_place_count(); // that follow, and do not
// Throws std::out_of_range.
TULLE_API void check_place(int index);
// Throws std::system_error (EOPNOTSUPP).
TULLE_API void check_runs_threads(int index);
[[nodiscard]] TULLE_API bool is_dead_place(int index);
// By loads and stores, of global memory.
[[nodiscard]] TULLE_API bool shares_memory_with(int index) noexcept;

// Runs `code` there and waits. Throws what it throws, or remote_error; std::bad_alloc.
TULLE_API remote_result call_at(int place, remote_code code, wire_writer& arguments);

// A finish, as the place where it is or one that takes part sees it. The current one is that of the
// activity which the caller is in; null: it is in none.
struct finish_scope;
[[nodiscard]] TULLE_API finish_scope* current_finish_scope() noexcept;

// Where the calling thread is, and which finish scope it belongs to; in its frame
// (src/finish/finish_scope.hpp).
struct context_frame {
    void* at;
    finish_scope* scope;
    void* outer;
};

// A finish begins in a frame, and the caller's thread belongs to it, until it ends. The finish_root
// lies in it, too (src/finish/README.md, "Who touches it last").
class finish_frame {
public:
    // `until`: it can be cancelled, and is when this is reached; null: only with what it is a part
    // of.
    TULLE_API explicit finish_frame(limit const* until); // std::bad_alloc
    finish_frame(finish_frame const&) = delete;
    finish_frame& operator=(finish_frame const&) = delete;
    TULLE_API ~finish_frame();

    [[nodiscard]] finish_scope& get() const noexcept { return *m_context.scope; }
    TULLE_API void add_exception(std::exception_ptr const& e) noexcept; // of the body
    // Waits until all activities have ended, then throws what was thrown. Once.
    TULLE_API void end();

private:
    static constexpr std::size_t k_root_size = 288;

    context_frame m_context;
    alignas(8) std::byte m_root[k_root_size]; // NOLINT(modernize-avoid-c-arrays)
};

// What the finish scope's activities see at its place; null: they cannot be cancelled.
[[nodiscard]] TULLE_API cancellation* stop_of(finish_scope const& scope) noexcept;
// Cancels them all. False: they are already. Throws std::bad_alloc, std::logic_error: they cannot
// be.
TULLE_API bool request_stop(finish_scope& scope);

// The number of the place that sees the finish scope so.
[[nodiscard]] TULLE_API int place_of(finish_scope const& scope) noexcept;

// What runs as an activity of `scope` at another place: reads a callable and its arguments, and
// calls it, unless the scope is cancelled. Its address travels as that of remote_code.
using activity_code = void (*)(wire_reader& arguments, finish_scope& scope);

// Starts an activity at another place. Throws std::bad_alloc.
TULLE_API void start_at(finish_scope& scope, int place, activity_code code, wire_writer& arguments);

// Starts an activity here: begin_local, start a thread, and in it run the body while a
// local_activity exists. If the thread cannot be started: cancel_local.
TULLE_API void begin_local(finish_scope& scope) noexcept;
TULLE_API void cancel_local(finish_scope& scope) noexcept;

// An activity that has not begun and may begin at any place.
struct any_activity {
    any_activity(finish_scope& its_scope, activity_code its_code) noexcept
        : scope(&its_scope), code(its_code) {}

    any_activity* older = nullptr; // in the bag of its place (balance/activity_bag.hpp)
    any_activity* younger = nullptr;
    finish_scope* scope;
    activity_code code;
    wire_writer arguments;
};
// std::invalid_argument: it holds an address, and is checked
TULLE_API void start_anywhere(std::unique_ptr<any_activity> activity);

class local_activity {
public:
    TULLE_API explicit local_activity(finish_scope& scope) noexcept;
    local_activity(local_activity const&) = delete;
    local_activity& operator=(local_activity const&) = delete;
    TULLE_API ~local_activity();
    TULLE_API void add_exception(std::exception_ptr const& e) noexcept; // of the body

private:
    context_frame m_context;
};

} // namespace tulle::detail
