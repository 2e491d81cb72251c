// SPDX-License-Identifier: Apache-2.0
// What is answered of the scheduling of threads.
#pragma once

#include <optional>

namespace tulle::posix {

struct thread;

// The caller, if it stands on a worker and the number means it: 0, or that of a worker, as gettid
// tells it.
[[nodiscard]] thread* own_by_number(long number) noexcept;

// ioprio_set and ioprio_get, of which the C library has no functions. Nothing: the kernel is asked.
[[nodiscard]] long change_io_priority(long which, long who, long value) noexcept;
[[nodiscard]] std::optional<long> tell_io_priority(long which, long who) noexcept;
// sched_setattr and sched_getattr, by the system calls of these names.
[[nodiscard]] long change_attributes(long who, void* how, long flags) noexcept;
[[nodiscard]] long tell_attributes(long who, void* how, long size, long flags) noexcept;

// A new thread has that of its creator `by`, the caller, which is null if it is an OS thread. By
// attributes with PTHREAD_EXPLICIT_SCHED it has another policy, and only that.
void inherit_scheduling(thread& t, thread const* by, bool inherits_policy) noexcept;
// In a forked child the kernel is told of that of the caller.
void begin_scheduling_of_child(thread& t) noexcept;

} // namespace tulle::posix
