// SPDX-License-Identifier: Apache-2.0
// vfork: the child has the memory of its parent, and so all that this library knows of the parent's
// threads. To it the caller is an OS thread, so that its calls are the C library's, and nothing is
// noted of what it does.
#include "compat/pthread/processes/vfork.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"

#include <sys/syscall.h>

namespace tulle::posix {

std::atomic<int> vfork_children::s_count{0};

namespace {

constinit thread_local sigset_t t_before{}; // the mask of the OS thread
constinit thread_local pid_t t_parent = 0;
// In which handler the caller is: the child, whose variables are its parent's, may end in another.
constinit thread_local wakes_left const* t_handler = nullptr;

pid_t this_process() noexcept { return static_cast<pid_t>(TULLE_LIBC(syscall)(SYS_getpid)); }

} // namespace

TULLE_COLD bool vfork_children::is_one() noexcept {
    return t_parent != 0 && t_parent != this_process();
}

void vfork_children::begin() noexcept {
    sigset_t all;
    sigfillset(&all);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &all, &t_before);
    t_parent = this_process();
    t_handler = wakes_left::of_caller();
    s_count.fetch_add(1, std::memory_order_relaxed); // relaxed: the caller's own child is to see it
    known_descriptors::note_sharing();
}

void vfork_children::end(bool in_child) noexcept {
    known_descriptors::note_sharing(); // what other threads have opened meanwhile
    if (!in_child) {
        s_count.fetch_sub(1, std::memory_order_relaxed); // relaxed: likewise
        t_parent = 0;
        wakes_left::restore(t_handler);
    }
    thread const* const t = in_child ? thread_blocks::owner(arch::thread_pointer()) : nullptr;
    // relaxed: the thread's own.
    sigset_t const mask =
        t != nullptr ? as_sigset(t->blocked.load(std::memory_order_relaxed)) : t_before;
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &mask, nullptr);
}

} // namespace tulle::posix

using tulle::posix::vfork_children;

// Called by vfork (arch/.../vfork.S); the second is given what the system has returned.
extern "C" void tulle_begin_vfork() noexcept { vfork_children::begin(); }
extern "C" pid_t tulle_end_vfork(long result) noexcept {
    vfork_children::end(result == 0);
    return result < 0 ? static_cast<pid_t>(tulle::posix::fail(static_cast<int>(-result)))
                      : static_cast<pid_t>(result);
}
