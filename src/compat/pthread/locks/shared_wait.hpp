// SPDX-License-Identifier: Apache-2.0
// Waits for a condition that processes share, which are the C library's and block the OS thread,
// and whose mutex may be one that only this library can let go of. An OS thread of the wait's own
// waits for the condition, with a mutex that nobody else knows. Whoever gets that one knows that
// the OS thread has begun to wait, and lets go of the program's: no signal is lost in between.
#pragma once

#include <ctime>

#include <pthread.h>

namespace tulle::posix {

// The C library's wait: `until`: null: for ever; `clock`: null: the condition's own.
struct wait_in_libc {
    clockid_t const* clock;
    timespec const* until;

    int operator()(pthread_cond_t* c, pthread_mutex_t* m) const;
};

struct end_of_shared_wait {
    int error;
    // A cancellation or a handler has ended it, and it has had no signal, which would be for others
    // if the caller is cancelled: it is to look.
    bool is_early;
};
[[nodiscard]] end_of_shared_wait wait_by_os_thread(pthread_cond_t* c, pthread_mutex_t* m,
                                                   wait_in_libc const& how);

} // namespace tulle::posix
