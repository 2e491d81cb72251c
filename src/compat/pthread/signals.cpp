// SPDX-License-Identifier: Apache-2.0
// Signals. The kernel knows the masks of workers only, which are main's when the first thread was
// made. A thread is told what it believes to block; that it blocks a signal has no effect on its
// worker, that it wants one has.
#include "compat/pthread/libc.hpp"
#include "compat/pthread/thread.hpp"

namespace {

using namespace tulle::posix;

constexpr int k_signals = 64;

bool is_signal(int number) noexcept { return number >= 0 && number <= k_signals; }

int change_mask(thread& t, int how, sigset_t const* set, sigset_t* before) noexcept {
    sigset_t const was = t.blocked;
    if (set != nullptr) {
        switch (how) {
            case SIG_BLOCK: sigorset(&t.blocked, &was, set); break;
            case SIG_SETMASK: t.blocked = *set; break;
            case SIG_UNBLOCK:
                for (int s = 1; s <= k_signals; ++s) {
                    if (sigismember(set, s) == 1) sigdelset(&t.blocked, s);
                }
                break;
            default: return EINVAL;
        }
        sigset_t wanted;
        sigemptyset(&wanted);
        for (int s = 1; s <= k_signals; ++s) {
            if (sigismember(&t.blocked, s) == 0) sigaddset(&wanted, s);
        }
        TULLE_LIBC(pthread_sigmask)(SIG_UNBLOCK, &wanted, nullptr);
    }
    if (before != nullptr) *before = was;
    return 0;
}

} // namespace

TULLE_INTERPOSE int pthread_sigmask(int how, sigset_t const* set, sigset_t* before) noexcept {
    thread* const t = self();
    return t == nullptr ? TULLE_LIBC(pthread_sigmask)(how, set, before)
                        : change_mask(*t, how, set, before);
}

TULLE_INTERPOSE int sigprocmask(int how, sigset_t const* set, sigset_t* before) noexcept {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(sigprocmask)(how, set, before);
    int const error = change_mask(*t, how, set, before);
    return error == 0 ? 0 : fail(error);
}

// A handler runs on one of the workers, or on main.
TULLE_INTERPOSE int pthread_kill(pthread_t id, int number) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_kill)(id, number);
    if (!t->is_used.load(std::memory_order_relaxed)) return ESRCH; // relaxed: see give
    if (!is_signal(number)) return EINVAL;
    if (number == 0) return 0;
    if (t == self()) return raise(number) == 0 ? 0 : errno;
    kept_errno const kept;
    return kill(getpid(), number) == 0 ? 0 : errno;
}
