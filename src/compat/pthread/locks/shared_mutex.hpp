// SPDX-License-Identifier: Apache-2.0
// Mutexes that processes share, but robust ones. They are the C library's, whose waits block an OS
// thread. A few threads wait so, and another worker runs for each of them; the mutex may be held by
// a thread that still needs a worker, so others look again after a while, or when a thread of this
// process has let go of the mutex.
#pragma once

#include <cstdint>
#include <ctime>

#include <pthread.h>

namespace tulle::posix {

// `until`: null: for ever. May end the caller.
[[nodiscard]] int lock_shared(pthread_mutex_t* m, clockid_t clock, timespec const* until);
[[nodiscard]] int unlock_shared(pthread_mutex_t* m) noexcept;

} // namespace tulle::posix
