// SPDX-License-Identifier: Apache-2.0
// Mutexes that processes share, but robust ones. They are the C library's, whose waits block an OS
// thread (kernel_lock.hpp).
#pragma once

#include <cstdint>
#include <ctime>

#include <pthread.h>

namespace tulle::posix {

// `until`: null: for ever. May end the caller.
[[nodiscard]] int lock_shared(pthread_mutex_t* m, clockid_t clock, timespec const* until);
[[nodiscard]] int unlock_shared(pthread_mutex_t* m) noexcept;

} // namespace tulle::posix
