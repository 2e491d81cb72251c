// SPDX-License-Identifier: Apache-2.0
// The part of a thread's record that the typed handles in <tulle/thread.hpp> share with the
// library, and the library calls under them.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/limit.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace tulle {

// How a thread is started. Zero-initialised: like any other.
// Compact stacks have 1024 bytes in huge pages and no guard: for many threads that only wait. They
// need a program linked with `-z now`, as the CMake package and pkg-config do, and an optimised
// library;
// otherwise the thread gets 16384 bytes.
struct attributes {
    // bytes, rounded up to a power of two from 16384; 1024: compact; 0: the default
    std::size_t stack_size = 0;
    int shepherd = -1; // runs only on workers of this shepherd; -1: anywhere
    // Runs at once; the spawner goes on later, perhaps on another worker.
    bool child_first = false;
    char const* name = nullptr; // copied; shown by tools. Null: none
};

using thread_id = std::uint64_t; // 0: none

namespace detail {

inline constexpr std::size_t k_thread_body_size = 32;

// The states of a thread, and what each field tells of them: sched/records/thread_record.hpp.
struct thread_core {
    void (*run)(thread_core*) = nullptr; // runs the body and keeps its result; may throw
    // By the last reference: destroys the result that nobody took; null when it was taken.
    void (*close)(thread_core*) = nullptr;
    std::atomic<std::uintptr_t> word{0};     // sched/records/join_word.hpp
    std::exception_ptr exception;            // set by the runner, taken by the joiner
    std::atomic<bool> claimed{false};        // somebody runs it, or has run it
    std::atomic<std::uint8_t> references{0}; // sched/records/thread_record.hpp
    std::uint8_t stack_class = 0;            // meaningful with own_stack
    bool own_stack = false;                  // not of the default class
    bool named = false;
    bool detached = false; // from the start: `run` retires the record before the body runs
    std::int16_t shepherd = -1;
    thread_id id = 0;
    // Return address of the call that spawned it, for reports and debuggers.
    void const* site = nullptr;
    alignas(8) std::byte body[k_thread_body_size]{};
};

// A record, not started; its site is where the caller is returned to, so what calls this is inlined
// up to the user's function. Throws std::system_error: the attributes are wrong (EINVAL), or no
// memory (ENOMEM).
TULLE_API thread_core* new_thread(attributes const& chosen);
// Of new_thread, when the closure could not be built.
TULLE_API void discard_thread(thread_core* t) noexcept;
TULLE_API void start_thread(thread_core* t, bool detached, bool child_first) noexcept;
// Returns when it has run, perhaps by running it.
TULLE_API void wait_thread(thread_core* t) noexcept;
// If nobody has begun it, and it may run here, and the caller is not placed on a shepherd: as a
// function call of the caller's. False: nothing was done.
TULLE_API bool try_run_thread(thread_core* t) noexcept;
// A yield to this thread, if nobody has begun it, and it and the caller may run here: it begins at
// once, and the caller comes next on its worker.
// not_now: others have waited for long; gone: it runs elsewhere, or has run.
enum class yielded : unsigned char { to_it, not_now, gone };
[[nodiscard]] TULLE_API yielded yield_to_thread(thread_core* t) noexcept;
TULLE_API bool wait_thread_until(thread_core* t, limit until) noexcept; // false: not finished
TULLE_API bool thread_is_done(thread_core const* t) noexcept;
TULLE_API void release_thread(thread_core* t) noexcept; // drops the handle
// A detached thread's body has been moved out: its record is free.
TULLE_API void retire_thread(thread_core* t) noexcept;
TULLE_API TULLE_COLD void rethrow_thread(thread_core* t);

// Memory of k_block_size bytes from where records come from, for what goes with a thread; aligned
// like malloc's. Null: there is none.
inline constexpr std::size_t k_block_size = 128;
[[nodiscard]] TULLE_API void* allocate_block() noexcept;
TULLE_API void free_block(void* block) noexcept; // on any OS thread

} // namespace detail
} // namespace tulle
