// SPDX-License-Identifier: Apache-2.0
// The run time's own calls are no cancellation points. To the C library those that it makes for
// main, or for another OS thread of the program, are: it would unwind frames of the run time, and
// most of these let no exception through. Threads of pthread_create stand on OS threads that nobody
// cancels.
#pragma once

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"

namespace tulle::posix {

// While one exists the C library does not cancel the caller, if that is an OS thread.
class uncancelled {
public:
    uncancelled() noexcept : m_is_os_thread(self() == nullptr) {
        if (m_is_os_thread) TULLE_LIBC(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &m_before);
    }
    uncancelled(uncancelled const&) = delete;
    uncancelled& operator=(uncancelled const&) = delete;
    ~uncancelled() {
        if (m_is_os_thread) TULLE_LIBC(pthread_setcancelstate)(m_before, nullptr);
    }

private:
    bool m_is_os_thread;
    int m_before = PTHREAD_CANCEL_ENABLE;
};

} // namespace tulle::posix
