// SPDX-License-Identifier: Apache-2.0
// Changes of users and groups (setuid and its kin). The kernel has these of each OS thread, so the
// C library sends each a signal of its own, whose handler makes the change and notes it in what
// the thread pointer leads to. On a worker that would be a thread's of ours, and the caller would
// wait for ever.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"

#include "arch/thread_pointer.hpp"
#include "sched/worker.hpp"

#include <atomic>

#include <sys/syscall.h>

namespace tulle::posix {

namespace {

using handler = void (*)(int, siginfo_t*, void*);

// As rt_sigaction has it: the first word is the handler, and the rest stays what it is.
struct kernel_action {
    handler call = nullptr;
    unsigned long rest[3]{};
};

constexpr int k_changes = 33; // SIGSETXID, which the C library hides
constexpr std::size_t k_bytes_of_set = 8;
static_assert(sizeof(unsigned long) == k_bytes_of_set, "the set of signals would not fit");

std::atomic<handler> s_of_libc{nullptr};

// Whoever changes the thread pointer has written the worker beside both (write_current_beside).
TULLE_NOINLINE void on_own_thread_pointer(int signal, siginfo_t* about, void* context) {
    sched::worker const* const w = sched::this_worker();
    handler const of_libc = s_of_libc.load(std::memory_order_relaxed); // relaxed: see below
    void* const found = arch::thread_pointer();
    void* const own = w == nullptr || w->thread_pointer == nullptr ? found : w->thread_pointer;
    if (own == found) return of_libc(signal, about, context);
    // A handler that the kernel calls itself, such as that of a profiler, would have the worker's
    // variables, not those of its thread.
    sigset_t all, before;
    sigfillset(&all);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &all, &before);
    arch::set_thread_pointer(own);
    of_libc(signal, about, context);
    arch::set_thread_pointer(found);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &before, nullptr);
}

long act(kernel_action const* wanted, kernel_action* before) noexcept {
    return TULLE_LIBC(syscall)(static_cast<long>(SYS_rt_sigaction), k_changes, wanted, before,
                               k_bytes_of_set);
}

} // namespace

void follow_changes_of_identity() noexcept {
    kernel_action a;
    if (act(nullptr, &a) != 0 || a.call == nullptr || a.call == &on_own_thread_pointer) return;
    s_of_libc.store(a.call, std::memory_order_relaxed); // relaxed: the call is a barrier
    a.call = &on_own_thread_pointer;
    static_cast<void>(act(&a, nullptr));
}

} // namespace tulle::posix
