// SPDX-License-Identifier: Apache-2.0
// Whether a fault is the overflow of a thread's stack, how much the thread wanted, and what is said
// of it.
#pragma once

#include "arch/registers.hpp"
#include "diag/call_frame.hpp"
#include "sched/scheduler.hpp"
#include "stack/stack_span.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::diag {

struct fault {
    std::uintptr_t address = 0; // that could not be accessed
    // Where the stack pointer was going (arch/stack_probe.hpp); 0: not known.
    std::uintptr_t probe_target = 0;
    arch::registers from{}; // where it happened
};

enum class overflow_kind : std::uint8_t {
    none,
    into_guard, // the guard has stopped it
    // The stack pointer lies below the stack: it has stepped over the guard, or there is none.
    past_guard,
};

// Reads nothing but the two arguments; `guard_bytes` lie below `own`. A thread whose stack pointer
// is still far up has followed a wrong pointer into its guard. past_guard is a suspicion: the
// program may stand on a stack of its own making.
[[nodiscard]] overflow_kind suspect(fault const& f, stack::span own,
                                    std::size_t guard_bytes) noexcept;

// Whether `w` runs on the stack of its OS thread: main's, or one that is foreign to the library.
[[nodiscard]] bool stands_on_system_stack(sched::worker const& w) noexcept;
// Whether the fault may be an overflow of the stack of an OS thread. Where the stack ends is not
// asked, since the system decides that as the stack grows.
[[nodiscard]] bool is_near_stack_pointer(fault const& f) noexcept;

// Whether the callers of the code whose stack pointer is below `own` have their frames on it.
// Called in a copy of the process: it may crash.
[[nodiscard]] bool began_on(stack::span own, arch::registers registers) noexcept;

// Bytes from the end of the stack down to where the faulting function would have got.
[[nodiscard]] std::size_t bytes_wanted(fault const& f, stack::span own) noexcept;

// The size to set: at least twice as large as it was, and at least what was wanted and as much
// again up to 64 KiB. 0: there is none.
[[nodiscard]] std::size_t size_to_set(std::size_t class_bytes, std::size_t wanted) noexcept;

// Called in a copy of the process, whose only OS thread is that of `w`: writes what happened to
// `output`, if it was an overflow of what `w` runs.
void write_overflow(sched::worker const& w, fault const& f, int process, int output) noexcept;

} // namespace tulle::diag
