// SPDX-License-Identifier: Apache-2.0
// Functions on signals of before POSIX.1, made of those of POSIX. The C library's would change the
// mask of the OS thread, and the kernel's actions.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/c_library/own.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <csignal>

TULLE_OWN(sigaction);
TULLE_OWN(sigprocmask);
TULLE_OWN(sigsuspend);
TULLE_OWN(signal);

namespace {

using namespace tulle::posix;

using handler = void (*)(int);

// Of signals up to the 32nd.
sigset_t set_of_bits(int bits) noexcept {
    sigset_t set;
    sigemptyset(&set);
    set.__val[0] = static_cast<unsigned>(bits);
    return set;
}
int bits_of(sigset_t const& set) noexcept { return static_cast<int>(set.__val[0]); }

// The mask before.
int change_bits(int how, int bits) {
    sigset_t const set = set_of_bits(bits);
    sigset_t before;
    return tulle_own_sigprocmask(how, &set, &before) != 0 ? -1 : bits_of(before);
}

// 0: the caller blocks it by now, or does not.
int change_one(int how, int signal, sigset_t* before) {
    sigset_t set;
    sigemptyset(&set);
    return sigaddset(&set, signal) != 0 ? -1 : tulle_own_sigprocmask(how, &set, before);
}

handler set_action(int signal, handler h, int flags) noexcept {
    struct sigaction wanted {
    }, before{};
    wanted.sa_handler = h;
    wanted.sa_flags = flags;
    return h == SIG_ERR || tulle_own_sigaction(signal, &wanted, &before) != 0
               ? (errno = EINVAL, SIG_ERR)
               : before.sa_handler;
}

} // namespace

extern "C" TULLE_API int tulle_pause_with_mask(int bits) asm("sigpause");
extern "C" TULLE_API int tulle_pause_for_signal(int signal) asm("__xpg_sigpause");
extern "C" TULLE_API handler tulle_set_with_mask(int signal, handler wanted) asm("sigset");

int tulle_pause_with_mask(int bits) {
    sigset_t const set = set_of_bits(bits);
    return tulle_own_sigsuspend(&set);
}
int tulle_pause_for_signal(int signal) {
    sigset_t set;
    tulle_own_sigprocmask(SIG_BLOCK, nullptr, &set);
    return sigdelset(&set, signal) != 0 ? -1 : tulle_own_sigsuspend(&set);
}

TULLE_INTERPOSE_WAIT(sighold, (int signal)) { return change_one(SIG_BLOCK, signal, nullptr); }
TULLE_INTERPOSE_WAIT(sigrelse, (int signal)) { return change_one(SIG_UNBLOCK, signal, nullptr); }
TULLE_INTERPOSE int sigignore(int signal) noexcept {
    return set_action(signal, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

// SIG_HOLD blocks it, and leaves its action; all else unblocks it.
handler tulle_set_with_mask(int signal, handler wanted) {
    bool const holds = wanted == SIG_HOLD;
    struct sigaction before {};
    sigset_t mask;
    if (tulle_own_sigaction(signal, nullptr, &before) != 0) return SIG_ERR;
    if (!holds && set_action(signal, wanted, 0) == SIG_ERR) return SIG_ERR;
    if (change_one(holds ? SIG_BLOCK : SIG_UNBLOCK, signal, &mask) != 0) return SIG_ERR;
    return sigismember(&mask, signal) == 1 ? SIG_HOLD : before.sa_handler;
}

TULLE_INTERPOSE handler bsd_signal(int number, handler h) noexcept {
    return tulle_own_signal(number, h);
}
TULLE_INTERPOSE handler ssignal(int number, handler h) noexcept {
    return tulle_own_signal(number, h);
}
TULLE_INTERPOSE handler sysv_signal(int number, handler h) noexcept {
    return set_action(number, h, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
TULLE_INTERPOSE handler __sysv_signal(int number, handler h) noexcept {
    return set_action(number, h, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

TULLE_INTERPOSE int siginterrupt(int signal, int ends_calls) noexcept {
    struct sigaction action {};
    if (tulle_own_sigaction(signal, nullptr, &action) != 0) return -1;
    action.sa_flags =
        ends_calls != 0 ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return tulle_own_sigaction(signal, &action, nullptr);
}

TULLE_INTERPOSE_WAIT(sigblock, (int bits)) { return change_bits(SIG_BLOCK, bits); }
TULLE_INTERPOSE_WAIT(sigsetmask, (int bits)) { return change_bits(SIG_SETMASK, bits); }
TULLE_INTERPOSE_WAIT(siggetmask, ()) { return change_bits(SIG_BLOCK, 0); }
