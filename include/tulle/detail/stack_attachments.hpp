// SPDX-License-Identifier: Apache-2.0
// Pointers that are attached to the stack that the caller runs on, and what else the interfaces of
// other libraries ask about that stack and its thread. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>

namespace tulle::detail {

struct thread_core;

// Pointers that go with the stack, also over waits, one for each interface; null at first, and
// where the OS thread is unknown to Tulle. Code that sets one puts back what was there: a stack is
// used for one thread after the other, and one within the other. set_attachment does nothing on an
// unknown OS thread.
enum class attachment_of : unsigned char { qthread, activity, global_deque };
[[nodiscard]] TULLE_API void* attachment(attachment_of which) noexcept;
TULLE_API void set_attachment(attachment_of which, void* pointer) noexcept;
// Sets it, and returns what was there before.
TULLE_API void* exchange_attachment(attachment_of which, void* pointer) noexcept;

// The innermost thread with a record that runs on this stack: one of spawn, but not one that was
// detached from the start. Null: there is none.
[[nodiscard]] TULLE_API thread_core* running_thread() noexcept;

// The bytes that may be used, from the lowest on; none on the own stack of an OS thread.
struct stack_area {
    std::byte* low = nullptr;
    std::size_t size = 0;
};
[[nodiscard]] TULLE_API stack_area current_stack() noexcept;
// The option stack_size of the run time, which runs.
[[nodiscard]] TULLE_API std::size_t usual_stack_size() noexcept;

// For programs whose threads expect nothing of main that it does not expect of them: any worker may
// run main, the caller, from now on, as if its own were stuck (the option main_moves, which may
// forbid it). By another thread: nothing.
TULLE_API void let_main_move() noexcept;

// As many workers as a start with the option `workers` at auto would make now.
[[nodiscard]] TULLE_API int default_worker_count();

} // namespace tulle::detail
