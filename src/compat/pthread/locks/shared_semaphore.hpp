// SPDX-License-Identifier: Apache-2.0
// Semaphores that processes share, as those with names, are the C library's, and so are waits for
// them, which would take the worker and which nothing could end. A thread of pthread_create has an
// OS thread wait instead.
#pragma once

#include "compat/pthread/threads/thread.hpp"

#include <semaphore.h>

namespace tulle::posix {

// The C library's wait: `until`: null: for ever.
struct semaphore_wait {
    clockid_t clock;
    timespec const* until;

    int operator()(sem_t* s) const;
};

// A cancellation point. By the caller `t`; 0, or -1 and errno.
int down_by_os_thread(thread& t, sem_t* s, semaphore_wait const& how);

} // namespace tulle::posix
