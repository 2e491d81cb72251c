// SPDX-License-Identifier: Apache-2.0
// Mutexes that tell the next owner when one has ended with them (PTHREAD_MUTEX_ROBUST), for threads
// of pthread_create. The word is that of the C library and the kernel, which OS threads and other
// processes take the mutex by: the number of an OS thread, and whether somebody waits and whether
// the owner has died. A thread here has no OS thread of its own: one that does nothing else stands
// for all of them, and has a list of their robust mutexes, which the kernel reads when the process
// ends. Which thread it is stands in the mutex. Waits: kernel_lock.hpp.
#pragma once

#include "compat/pthread/threads/thread.hpp"

namespace tulle::posix {

[[nodiscard]] inline bool is_robust(pthread_mutex_t const* m) noexcept {
    return (m->__data.__kind & 16) != 0;
}

// By a thread of pthread_create. Deadline 0: a try, which is refused with EBUSY. A wait may end the
// caller.
int lock_robust(pthread_mutex_t* m, std::uint64_t deadline);
int unlock_robust(pthread_mutex_t* m) noexcept;
// Whether the caller has it, a thread of pthread_create or an OS thread.
[[nodiscard]] bool holds_robust(pthread_mutex_t* m) noexcept;
// Such a thread, the caller, ends: the next owners of mutexes that it has are told so.
void leave_robust_mutexes() noexcept;
// In a forked child, whose threads have none.
void forget_robust_mutexes() noexcept;

} // namespace tulle::posix
