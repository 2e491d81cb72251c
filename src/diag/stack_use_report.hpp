// SPDX-License-Identifier: Apache-2.0
// The table of the option `stack_report`: for each call site of spawn, how much of their stacks
// they have used, the deepest first.
#pragma once

#include "sched/stacks/stack_use.hpp"

#include <cstddef>

namespace tulle::diag {

// The size to set for threads that use so many bytes: the smallest in which a quarter stays free.
// `stack_bytes`: what they have.
[[nodiscard]] std::size_t enough_for(std::size_t used, std::size_t stack_bytes) noexcept;

// Writes the report on an OS thread of its own, as the caller may stand on a small stack; returns
// when it is written.
void report_stack_uses(sched::stack_uses& uses) noexcept;

// A loop calls this that finds a stack without a guard used beyond its low end: it says which
// thread it was, and aborts.
[[noreturn]] void end_for_overflow(sched::stack_user const& user, thread_id id) noexcept;

} // namespace tulle::diag
