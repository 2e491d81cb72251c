// SPDX-License-Identifier: Apache-2.0
// Masks of threads, signals for one thread, and waits for signals. What the kernel is told of a
// mask is only that the caller's OS thread is to get what its thread wants.
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "wait/limit_wait.hpp"

#include <sys/syscall.h>

namespace tulle::posix {

interruption run_handlers(thread& t, signal_set harmless) {
    interruption all = interruption::none;
    for (;;) {
        t.attention.renew();
        // relaxed: the thread's own.
        signal_set const now = signals_for(t) & ~t.blocked.load(std::memory_order_relaxed);
        if (now == 0) return all;
        int const signal = first_of(now);
        siginfo_t about;
        if (!take_signal(t, signal, about)) continue;
        // The handler may wait for what another one does, or jump out of this.
        if ((now & (now - 1)) != 0) static_cast<void>(t.attention.request());
        interruption const by = act(t, signal, about);
        if (by > all && (set_of(signal) & harmless) == 0) all = by;
    }
}

bool leaves_handlers() noexcept { return wakes_left::by_caller() && !is_on_own_os_thread(); }

// relaxed: the thread's own. Whoever lends it some may not have called its attention yet.
void run_handlers_at_once(thread& t) {
    if ((signals_for(t) & ~t.blocked.load(std::memory_order_relaxed)) == 0) return;
    if (leaves_handlers()) return interrupt_computing();
    static_cast<void>(run_handlers(t));
}

// Nobody else knows of it: another handler, which may end the thread, comes afterwards. Of what is
// left when this one jumps away the next wait is told. relaxed: the thread's own.
void handle_at_once(thread& t, siginfo_t const& about) {
    if ((signals_for(t) & ~t.blocked.load(std::memory_order_relaxed)) != 0)
        static_cast<void>(t.attention.request());
    static_cast<void>(act(t, about.si_signo, about));
    run_handlers_at_once(t);
}

// relaxed: the thread's own. What it blocks from now on is wanted by those that it has just made,
// which ask for nothing that it wants itself (inherit_mask). One fence is for both what it has been
// lent and what is unwanted, as all that others are to see lies before it: its own mask, and those
// of the threads that it has made.
signal_set replace_mask(thread& t, signal_set wanted, bool takes) noexcept {
    signal_set const now = wanted & ~k_never_blocked;
    signal_set const was = t.blocked.exchange(now, std::memory_order_relaxed);
    give_back(t, now);                        // the fence
    if (takes) take_unblocked(t, was & ~now); // before another OS thread is to get them
    if (was != now) want_after_fence(was ^ now);
    return was;
}

void set_mask(thread& t, signal_set now) noexcept {
    guard(now);
    bool const unblocks = (replace_mask(t, now, true) & ~now) != 0;
    if (unblocks || is_on_own_os_thread()) open_mask_of_worker(t, true);
}

// relaxed, all: the thread's own.
other_mask::other_mask(thread& t, sigset_t const* mask) noexcept
    : m_thread(t), m_before(t.blocked.load(std::memory_order_relaxed)) {
    if (mask == nullptr) return;
    set_mask(t, set_of(*mask));
    if ((signals_for(t) & ~set_of(*mask)) != 0) static_cast<void>(t.attention.request());
}
other_mask::~other_mask() {
    kept_errno const kept;
    if (m_thread.blocked.load(std::memory_order_relaxed) != m_before) set_mask(m_thread, m_before);
}

inherited_mask::inherited_mask(thread* t) noexcept : m_thread(t) {
    if (t == nullptr) return;
    sigset_t const own = as_sigset(t->blocked.load(std::memory_order_relaxed));
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &own, &m_before);
}
inherited_mask::~inherited_mask() {
    if (m_thread != nullptr) TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &m_before, nullptr);
}

signal_set mask_in_kernel() noexcept {
    sigset_t now;
    TULLE_LIBC(pthread_sigmask)(SIG_BLOCK, nullptr, &now);
    return set_of(now);
}

siginfo_t note_of_own(int signal, int code) noexcept {
    siginfo_t about{};
    about.si_signo = signal;
    about.si_code = code;
    about.si_pid = getpid();
    about.si_uid = getuid();
    return about;
}

namespace {

int change_mask(thread& t, int how, sigset_t const* set, sigset_t* before) {
    if (set != nullptr) run_handlers_at_once(t);
    signal_set const was = t.blocked.load(std::memory_order_relaxed); // relaxed: the thread's own
    if (set != nullptr) {
        signal_set const given = set_of(*set);
        switch (how) {
            case SIG_BLOCK: set_mask(t, was | given); break;
            case SIG_UNBLOCK: set_mask(t, was & ~given); break;
            case SIG_SETMASK: set_mask(t, given); break;
            default: return EINVAL;
        }
        run_handlers_at_once(t);
    }
    if (before != nullptr) *before = as_sigset(was);
    return 0;
}

// By an OS thread. An error, or 0.
int change_own_mask(int how, sigset_t const* set, sigset_t* before) noexcept {
    int const error = TULLE_LIBC(pthread_sigmask)(how, set, before);
    if (error != 0 || set == nullptr || vfork_children::has_caller()) return error;
    signal_set const now = mask_in_kernel();
    if (is_main()) note_mask_of_main(now);
    guard(now);
    return 0;
}

bool blocks(thread& t, int signal) noexcept { return !wants(t, set_of(signal)); }

// An error, or 0.
int send_to(thread& t, int signal, siginfo_t const& about) {
    signal_action const a = action_of(signal);
    bool const is_blocked = blocks(t, signal);
    if (!is_blocked && !a.has_handler()) {
        if (!a.is_ignored()) act_as_standard(signal);
        return 0;
    }
    bool const has_note = about.si_code != SI_TKILL || is_queued(signal);
    if (has_note && !signal_notes::put(signal, &t, about) && is_queued(signal)) return EAGAIN;
    t.pending.fetch_or(set_of(signal), std::memory_order_release); // pairs with take_signal
    if (&t != self() || leaves_handlers())
        call_attention_to_signal(t);
    else if (!is_blocked)
        static_cast<void>(run_handlers(t));
    return 0;
}

// --- waits for signals ---------------------------------------------------------------------------

int until_a_handler_has_run(thread& t) {
    while (attend(t) == interruption::none) {
        kept_errno const kept;
        static_cast<void>(wait::wait_for_limit<parking>({wait::wait_kind::sleep, nullptr},
                                                        interruptible(&t, wait::k_never)));
    }
    return fail(EINTR);
}

int suspend_with(thread& t, sigset_t const& mask) {
    return with_other_mask(t, &mask, [&t] { return until_a_handler_has_run(t); });
}

// Waits in the kernel, which has what all OS threads block; 0: look again. The C library's function
// does not tell who has sent a signal to one thread.
int wait_in_kernel(thread& t, sigset_t const& set, siginfo_t& about,
                   timespec const* time) noexcept {
    sigset_t before;
    TULLE_LIBC(pthread_sigmask)(SIG_BLOCK, &set, &before);
    // relaxed: whoever sends one for the other side of the fence sees them, or is seen (Dekker).
    t.waits_for.store(set_of(set), std::memory_order_relaxed);
    t.waits_on.store(os::thread_id(), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with wake_from_kernel
    int result = 0;
    if ((signals_for(t) & set_of(set)) == 0 && !t.attention.is_requested())
        result = static_cast<int>(TULLE_LIBC(syscall)(static_cast<long>(SYS_rt_sigtimedwait), &set,
                                                      &about, time, sizeof(signal_set)));
    int const error = errno;
    t.waits_on.store(0, std::memory_order_relaxed); // relaxed: one wake-up more does no harm
    t.waits_for.store(0, std::memory_order_relaxed);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &before, nullptr);
    if (result > 0 && is_wake_up(about)) return 0;
    errno = error;
    return result;
}

bool take_one_of_its_own(thread& t, signal_set set, siginfo_t& about) noexcept {
    while (signal_set const here = signals_for(t) & set)
        if (take_signal(t, first_of(here), about)) return true;
    return false;
}

// The signal, or -1 with errno: EINTR when a handler has run, whatever its flags are.
int find_one_of(thread& t, sigset_t const& set, siginfo_t& about, timespec const* time) {
    std::uint64_t const deadline = time == nullptr ? wait::k_never : deadline_after(*time);
    for (;;) {
        if (take_one_of_its_own(t, set_of(set), about)) return about.si_signo;
        timespec const left = left_until(deadline);
        int const result = wait_in_kernel(t, set, about, time == nullptr ? nullptr : &left);
        if (result > 0) return result;
        if (take_one_of_its_own(t, set_of(set), about)) return about.si_signo;
        // Signals for others interrupt it, too.
        bool const is_woken = result == 0 || (errno == EINTR && !is_on_own_os_thread());
        if (!is_woken) return result;
        if (attend(t) != interruption::none) return fail(EINTR);
    }
}

// Others that it has been lent because it waited for them are not for it any longer. relaxed: the
// thread's own.
int take_one_of(thread& t, sigset_t const& set, siginfo_t* about, timespec const* time) {
    test_cancel(&t);
    siginfo_t found{};
    int const result = find_one_of(t, set, found, time);
    kept_errno const kept;
    give_back(t, t.blocked.load(std::memory_order_relaxed));
    if (result > 0 && about != nullptr) *about = found;
    return result;
}

} // namespace

// Another OS thread is not noted.
noted_wait::noted_wait(signal_set some) noexcept
    : m_is_noted(some != 0 && is_main() && !vfork_children::has_caller()) {
    if (m_is_noted) m_before = note_wait_of_main(some);
}
noted_wait noted_wait::with_mask(sigset_t const* mask) noexcept {
    return noted_wait(mask == nullptr ? 0 : ~set_of(*mask));
}
noted_wait::~noted_wait() {
    if (m_is_noted) static_cast<void>(note_wait_of_main(m_before));
}

} // namespace tulle::posix

using namespace tulle::posix;

// A handler that these run may end the thread.
TULLE_INTERPOSE_WAIT(pthread_sigmask, (int how, sigset_t const* set, sigset_t* before)) {
    thread* const t = self();
    return t == nullptr ? change_own_mask(how, set, before) : change_mask(*t, how, set, before);
}

TULLE_INTERPOSE_WAIT(sigprocmask, (int how, sigset_t const* set, sigset_t* before)) {
    int const error = tulle_wait_pthread_sigmask(how, set, before);
    return error == 0 ? 0 : fail(error);
}

namespace {

int send_if_there(thread& t, int number, siginfo_t const& about) {
    if (!t.is_used.load(std::memory_order_relaxed)) return ESRCH; // relaxed: see give
    if (number == 0) return 0;
    if (!is_signal(number)) return EINVAL;
    kept_errno const kept;
    if ((k_never_blocked & set_of(number)) != 0)
        return TULLE_LIBC(kill)(getpid(), number) == 0 ? 0 : errno;
    return send_to(t, number, about);
}

} // namespace

TULLE_INTERPOSE_WAIT(pthread_kill, (pthread_t id, int number)) {
    thread* const t = thread_of(id);
    return t == nullptr ? TULLE_LIBC(pthread_kill)(id, number)
                        : send_if_there(*t, number, note_of_own(number, SI_TKILL));
}

TULLE_INTERPOSE_WAIT(pthread_sigqueue, (pthread_t id, int number, sigval value)) {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_sigqueue)(id, number, value);
    siginfo_t about = note_of_own(number, SI_QUEUE);
    about.si_value = value;
    return send_if_there(*t, number, about);
}

TULLE_INTERPOSE_WAIT(raise, (int number)) {
    thread* const t = self();
    if (t == nullptr || !is_signal(number) || is_on_own_os_thread() ||
        (!is_for_threads(number) && !blocks(*t, number)))
        return TULLE_LIBC(raise)(number);
    int const error = send_to(*t, number, note_of_own(number, SI_TKILL));
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int sigpending(sigset_t* set) noexcept {
    int const result = TULLE_LIBC(sigpending)(set);
    thread* const t = self();
    if (result != 0 || t == nullptr) return result;
    // relaxed: the thread's own.
    *set = as_sigset(set_of(*set) | (signals_for(*t) & t->blocked.load(std::memory_order_relaxed)));
    return 0;
}

TULLE_INTERPOSE int pause() {
    thread* const t = self();
    return t == nullptr ? TULLE_LIBC(pause)() : until_a_handler_has_run(*t);
}

TULLE_INTERPOSE int sigsuspend(sigset_t const* mask) {
    thread* const t = self();
    if (t != nullptr) return suspend_with(*t, *mask);
    noted_wait const meanwhile = noted_wait::with_mask(mask);
    return TULLE_LIBC(sigsuspend)(mask);
}

TULLE_INTERPOSE int sigtimedwait(sigset_t const* set, siginfo_t* about, timespec const* time) {
    thread* const t = self();
    if (t == nullptr) {
        noted_wait const meanwhile(set_of(*set));
        return TULLE_LIBC(sigtimedwait)(set, about, time);
    }
    if (time != nullptr && (time->tv_sec < 0 || !is_time(*time)))
        return TULLE_LIBC(sigtimedwait)(set, about, time);
    return take_one_of(*t, *set, about, time);
}

TULLE_INTERPOSE int sigwaitinfo(sigset_t const* set, siginfo_t* about) {
    thread* const t = self();
    if (t != nullptr) return take_one_of(*t, *set, about, nullptr);
    noted_wait const meanwhile(set_of(*set));
    return TULLE_LIBC(sigwaitinfo)(set, about);
}

TULLE_INTERPOSE int sigwait(sigset_t const* set, int* signal) {
    thread* const t = self();
    if (t == nullptr) {
        noted_wait const meanwhile(set_of(*set));
        return TULLE_LIBC(sigwait)(set, signal);
    }
    kept_errno const kept;
    for (;;) {
        int const found = take_one_of(*t, *set, nullptr, nullptr);
        if (found < 0 && errno == EINTR) continue;
        if (found > 0) *signal = found;
        return found > 0 ? 0 : errno;
    }
}
