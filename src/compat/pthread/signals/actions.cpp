// SPDX-License-Identifier: Apache-2.0
// What happens at a signal: sigaction and signal, and what the kernel calls.
#include "arch/registers.hpp"
#include "base/spin_lock.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/signals/uninterrupted.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "diag/answer.hpp"
#include "os/thread.hpp"
#include "sched/worker.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>

namespace tulle::posix {

namespace {

// Written under s_lock, with signals blocked; read by handlers, too. The version says which of two
// places has the action; the other one is written. Whoever finds another version afterwards reads
// again. A process that is forked meanwhile has the action of before. relaxed in it: the fences
// order it.
class action_cell {
public:
    [[nodiscard]] signal_action load() const noexcept {
        for (;;) {
            std::uint32_t const before = m_version.load(std::memory_order_acquire);
            place const& p = m_places[before % 2];
            signal_action const found{p.handler.load(std::memory_order_relaxed),
                                      p.flags.load(std::memory_order_relaxed),
                                      p.mask.load(std::memory_order_relaxed)};
            std::atomic_thread_fence(std::memory_order_acquire); // pairs with store
            if (before == m_version.load(std::memory_order_relaxed)) return found;
        }
    }
    void store(signal_action const& a) noexcept {
        std::uint32_t const next = m_version.load(std::memory_order_relaxed) + 1;
        std::atomic_thread_fence(std::memory_order_release); // pairs with load
        place& p = m_places[next % 2];
        p.handler.store(a.handler, std::memory_order_relaxed);
        p.flags.store(a.flags, std::memory_order_relaxed);
        p.mask.store(a.mask, std::memory_order_relaxed);
        m_version.store(next, std::memory_order_release); // pairs with load
    }

private:
    struct place {
        std::atomic<std::uintptr_t> handler{0};
        std::atomic<int> flags{0};
        std::atomic<signal_set> mask{0};
    };

    std::atomic<std::uint32_t> m_version{0};
    std::array<place, 2> m_places{};
};

base::spin_lock s_lock;
std::array<action_cell, k_signals + 1> s_actions;
signal_set s_known = 0; // the program has said what to do; under the lock
// Set when the run time is about to start, before workers get signals.
std::atomic<bool> s_has_begun{false};
// Written under the lock: in place of the standard action the kernel has on_signal.
std::atomic<signal_set> s_guarded{0};

constexpr signal_set sets_of(std::initializer_list<int> signals) noexcept {
    signal_set all = 0;
    for (int const s : signals) all |= set_of(s);
    return all;
}

constexpr signal_set k_kernels =
    sets_of({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGKILL, SIGSTOP, SIGPROF});
constexpr signal_set k_ignored_by_standard = sets_of({SIGCHLD, SIGURG, SIGWINCH, SIGCONT});

signal_action action_from(struct sigaction const& a) noexcept {
    return {reinterpret_cast<std::uintptr_t>(a.sa_handler), a.sa_flags, set_of(a.sa_mask)};
}

struct sigaction sigaction_from(signal_action const& a) noexcept {
    struct sigaction result {};
    result.sa_handler = reinterpret_cast<void (*)(int)>(a.handler);
    result.sa_flags = a.flags;
    result.sa_mask = as_sigset(a.mask);
    return result;
}

template <class F> auto with_lock(F change) noexcept {
    return uninterrupted([&] {
        std::lock_guard const held(s_lock);
        return change();
    });
}

void on_signal(int signal, siginfo_t* about, void* context);

// With the lock held: tells the kernel. 0 or -1, with errno.
int tell_kernel(int signal, signal_action const& wanted) noexcept {
    struct sigaction k = sigaction_from(wanted);
    bool const is_guarded = // relaxed: under the lock
        wanted.is_standard() && (s_guarded.load(std::memory_order_relaxed) & set_of(signal)) != 0;
    if (s_has_begun.load(std::memory_order_relaxed) && (wanted.has_handler() || is_guarded)) {
        k.sa_sigaction = &on_signal;
        // The kernel is not to forget the handler when a signal has only been handed out, and not
        // to call it on a stack of the worker's, which a handler that waits would leave.
        constexpr int k_ours = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
        k.sa_flags = (is_guarded ? SA_RESTART : k.sa_flags & ~k_ours) | SA_SIGINFO;
    }
    return TULLE_LIBC(sigaction)(signal, &k, nullptr);
}

// --- signals that stay with the kernel -----------------------------------------------------------

// Flags, mask and stack are as the program asks the kernel for them, but for SA_SIGINFO, which is
// added. The function that the kernel calls is another one, which notes that it may have
// interrupted the run time. s_actions has the last handler of each of these signals, also when the
// kernel has its standard action again: a call may be on its way. It is noted before the kernel is
// told, so for a moment the new handler may be called with the mask and the flags of the last one.
// What the action is, the kernel says.

void on_signal_of_kernel(int signal, siginfo_t* about, void* context);

constexpr int k_once = static_cast<int>(SA_RESETHAND);

bool calls_us(struct sigaction const& a) noexcept {
    return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == &on_signal_of_kernel;
}

// What the program has asked for where the kernel has `k`, which keeps the flags of a handler that
// has been called once only (SA_RESETHAND).
struct sigaction as_the_programs(struct sigaction k, signal_action const& last) noexcept {
    bool const was_called = k.sa_handler == SIG_DFL && (k.sa_flags & k_once) != 0;
    if (!calls_us(k) && !was_called) return k;
    if (!was_called) k.sa_handler = reinterpret_cast<void (*)(int)>(last.handler);
    if ((last.flags & SA_SIGINFO) == 0) k.sa_flags &= ~SA_SIGINFO;
    return k;
}

struct sigaction as_the_kernels(struct sigaction a) noexcept {
    a.sa_sigaction = &on_signal_of_kernel;
    a.sa_flags |= SA_SIGINFO;
    return a;
}

// A child of vfork has actions of its own, in the memory of its parent, which are not noted. Who
// asks only takes the lock, too: what the kernel says belongs to the handler that is noted.
int change_action_of_kernels(int signal, struct sigaction const* wanted,
                             struct sigaction* before) noexcept {
    action_cell& last = s_actions[static_cast<std::size_t>(signal)];
    bool const notes = wanted != nullptr && !vfork_children::has_caller();
    struct sigaction const asked = wanted != nullptr ? *wanted : sigaction_from({});
    struct sigaction found {};
    auto const change = [&] {
        signal_action const was = last.load();
        bool const has_handler = action_from(asked).has_handler();
        if (notes && has_handler) last.store(action_from(asked));
        if (notes) s_known |= set_of(signal);
        // relaxed: under the lock, where it is noted
        bool const is_by_us = notes && has_handler && s_has_begun.load(std::memory_order_relaxed);
        struct sigaction const k = is_by_us ? as_the_kernels(asked) : asked;
        int const result = TULLE_LIBC(sigaction)(signal, wanted != nullptr ? &k : nullptr, &found);
        found = as_the_programs(found, was);
        return result;
    };
    int const result = vfork_children::has_caller() ? change() : with_lock(change);
    if (result == 0 && before != nullptr) *before = found;
    if (result == 0 && notes && is_started() && action_from(asked).has_handler())
        start_to_hand_out();
    return result;
}

// With the lock held. Whether the program has a handler.
bool begin_to_be_called(int signal) noexcept {
    signal_action const last = s_actions[static_cast<std::size_t>(signal)].load();
    struct sigaction found {};
    if (TULLE_LIBC(sigaction)(signal, nullptr, &found) != 0) return false;
    if (calls_us(found)) return true; // in a forked child
    if (!last.has_handler() || action_from(found).handler != last.handler) return false;
    struct sigaction const k = as_the_kernels(found);
    return TULLE_LIBC(sigaction)(signal, &k, nullptr) == 0;
}

} // namespace

int change_action(int signal, struct sigaction const* wanted, struct sigaction* before) noexcept {
    if (!is_signal(signal)) return TULLE_LIBC(sigaction)(signal, wanted, before);
    if (!is_for_threads(signal)) return change_action_of_kernels(signal, wanted, before);
    if (vfork_children::has_caller()) return TULLE_LIBC(sigaction)(signal, wanted, before);
    struct sigaction found {};
    if (TULLE_LIBC(sigaction)(signal, nullptr, &found) != 0) return -1; // not the program's
    if (signal == SIGQUIT && diag::answers_requests()) found = sigaction_from({}); // the run time's
    signal_action const next = wanted != nullptr ? action_from(*wanted) : signal_action{};
    action_cell& cell = s_actions[static_cast<std::size_t>(signal)];
    int const result = with_lock([&] {
        if ((s_known & set_of(signal)) != 0) found = sigaction_from(cell.load());
        if (wanted == nullptr) return 0;
        cell.store(next);
        s_known |= set_of(signal);
        return tell_kernel(signal, next);
    });
    if (result == 0 && before != nullptr) *before = found;
    if (result == 0 && is_started() && next.has_handler()) {
        leave_no_longer(set_of(signal));
        start_to_hand_out();
    }
    return result;
}

namespace {

// --- handlers ------------------------------------------------------------------------------------

using plain_handler = void (*)(int);
using informed_handler = void (*)(int, siginfo_t*, void*);

void forget_handler(int signal) noexcept {
    struct sigaction const standard = sigaction_from({});
    static_cast<void>(change_action(signal, &standard, nullptr));
}

struct handler_call {
    signal_action const& a;
    int signal;
    siginfo_t* about;
    void* context;

    void make() const {
        kept_errno const kept;
        if ((a.flags & static_cast<int>(SA_RESETHAND)) != 0) forget_handler(signal);
        if ((a.flags & SA_SIGINFO) != 0)
            reinterpret_cast<informed_handler>(a.handler)(signal, about, context);
        else
            reinterpret_cast<plain_handler>(a.handler)(signal);
    }
};

bool stands_on(stack_t const& s) noexcept {
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return (s.ss_flags & SS_DISABLE) == 0 &&
           here - reinterpret_cast<std::uintptr_t>(s.ss_sp) < s.ss_size;
}

// That of the caller, which is `t` or, if that is null, an OS thread.
stack_t alternate_stack(thread const* t) noexcept {
    if (t != nullptr) return t->alternate;
    stack_t of_os_thread{nullptr, SS_DISABLE, 0};
    TULLE_LIBC(sigaltstack)(nullptr, &of_os_thread);
    return of_os_thread;
}

void call(signal_action const& a, int signal, siginfo_t* about, void* context) {
    handler_call c{a, signal, about, context};
    if ((a.flags & SA_ONSTACK) == 0) return c.make();
    stack_t const s = alternate_stack(self());
    if ((s.ss_flags & SS_DISABLE) != 0 || stands_on(s)) return c.make();
    tulle_call_on_stack(
        static_cast<std::byte*>(s.ss_sp) + s.ss_size,
        [](void* it) {
            std::optional<wakes_left> here; // another stack: wakes_left::jump_to_frame_of
            if (wakes_left::by_caller()) here.emplace(reinterpret_cast<std::uintptr_t>(it));
            static_cast<handler_call*>(it)->make();
        },
        &c);
}

signal_set blocked_by_handler(signal_action const& a, int signal) noexcept {
    return a.mask | ((a.flags & SA_NODEFER) != 0 ? 0 : set_of(signal));
}

// What it blocks for the handler was perhaps left to the process meanwhile. relaxed: the thread's
// own.
void call_on(thread& t, signal_action const& a, int signal, siginfo_t* about, void* context,
             bool takes) {
    signal_set const before = t.blocked.load(std::memory_order_relaxed);
    replace_mask(t, before | blocked_by_handler(a, signal), false);
    call(a, signal, about, context);
    replace_mask(t, before, takes);
}

// --- what the kernel calls -----------------------------------------------------------------------

// The code of these may hold locks that a handler needs: [first, end).
struct code_range {
    std::uintptr_t first = 0, end = 0;
};
std::array<code_range, 16> s_systems_code;
std::size_t s_systems_ranges = 0;

bool is_of_system(char const* library) noexcept {
    for (char const* const name : {"/libtulle-preload", "/libc.so", "/ld-linux", "/libstdc++.so",
                                   "/libgcc_s.so", "/libpthread.so"}) {
        if (std::strstr(library, name) != nullptr) return true;
    }
    return false;
}

int note_code(dl_phdr_info* library, std::size_t, void*) noexcept {
    if (!is_of_system(library->dlpi_name)) return 0;
    for (int k = 0; k != library->dlpi_phnum && s_systems_ranges < s_systems_code.size(); ++k) {
        auto const& part = library->dlpi_phdr[k];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        std::uintptr_t const first = library->dlpi_addr + part.p_vaddr;
        s_systems_code[s_systems_ranges++] = {first, first + part.p_memsz};
    }
    return 0;
}

bool is_in_program(std::uintptr_t at) noexcept {
    return s_systems_ranges != 0 &&
           std::none_of(s_systems_code.begin(), s_systems_code.begin() + s_systems_ranges,
                        [at](code_range r) { return at >= r.first && at < r.end; });
}

bool stands_on_worker() noexcept {
    auto const* const w = sched::this_worker();
    return w != nullptr && !w->is_guest();
}

interruption end_of_call(signal_action const& a) noexcept {
    return (a.flags & SA_RESTART) != 0 ? interruption::restarts : interruption::ends;
}

// The mask of main, whose handler the kernel has called, is another one until the handler returns,
// or jumps out (threads/jumps.cpp), and it does not wait. One that has interrupted a wait with
// another mask has that one, with what it blocks itself, and the mask of before the wait comes
// back.
void handle_on_main(signal_action const& a, int signal, siginfo_t* about, ucontext_t* context) {
    note_mask_of_main(mask_in_kernel());
    signal_set const waited_for = note_wait_of_main(0);
    call(a, signal, about, context);
    static_cast<void>(note_wait_of_main(waited_for));
    note_mask_of_main(set_of(context->uc_sigmask));
}

// In a forked child a thread has its own OS thread, and blocks what that blocks. What comes back
// with its mask the kernel delivers there: others, who would be told of it by replace_mask, are not
// to take it away. relaxed: the thread's own.
void handle_in_child(thread& t, signal_action const& a, int signal, siginfo_t* about,
                     void* context) {
    signal_set const before = t.blocked.load(std::memory_order_relaxed);
    replace_mask(t, before | blocked_by_handler(a, signal), false);
    call(a, signal, about, context);
    t.blocked.store(before, std::memory_order_relaxed);
}

std::uintptr_t stack_of(void* context) noexcept {
    auto const interrupted = arch::registers_of(*static_cast<ucontext_t const*>(context));
    return interrupted.value[arch::k_stack_pointer];
}

void on_signal_of_os_thread(int signal, siginfo_t* about, void* context) {
    signal_action const a = action_of(signal);
    if (a.is_standard()) return act_as_standard(signal);
    if (!a.has_handler()) return;
    wakes_left const meanwhile(stack_of(context));
    if (thread* const t = self())
        handle_in_child(*t, a, signal, about, context);
    else if (is_main() && !vfork_children::has_caller())
        handle_on_main(a, signal, about, static_cast<ucontext_t*>(context));
    else
        call(a, signal, about, context);
    if (is_started()) os_attention::note_handler(end_of_call(a));
}

// Whether the thread on the worker has run its handler.
bool handle_here(int signal, siginfo_t* about, ucontext_t* context) {
    thread* const t = self();
    signal_action const a = action_of(signal);
    // relaxed: the thread's own.
    if (t == nullptr || !a.has_handler() || !is_in_program(arch::pc_of(*context)) ||
        (t->blocked.load(std::memory_order_relaxed) & set_of(signal)) != 0)
        return false;
    siginfo_t taken;
    if (is_wake_up(*about)) {
        if (!take_signal(*t, signal, taken)) return false;
        about = &taken;
    }
    bool const before = std::exchange(t->is_interrupted, true);
    note_closed(a.mask | set_of(signal)); // for others that run here while the handler waits
    call_on(*t, a, signal, about, context, false); // the kernel delivers it
    note_closed(set_of(context->uc_sigmask)); // which comes back, on the worker that this is now
    note_worker(*t);
    t->is_interrupted = before;
    return true;
}

// Does not return if the thread that has been interrupted is to end at any point: as natively, in
// the middle of what is the program's own affair.
void end_if_cancelled(ucontext_t const& interrupted) {
    thread* const t = self();
    if (t == nullptr || !ends_at_any_point(*t) || !t->is_to_end() ||
        !is_in_program(arch::pc_of(interrupted)))
        return;
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &interrupted.uc_sigmask, nullptr);
    end_self(*t, PTHREAD_CANCELED);
}

// A fault that an instruction of the program's own code has made, in a thread, which holds no lock
// of the run time there. Where no thread is, such as between two of them, the run time may have
// called the program's allocator. All else, such as a clock, an error of memory that nobody has
// touched (AO), or a signal that somebody has sent, may come at any time.
bool is_fault_of_program(siginfo_t const& about, ucontext_t const& context) noexcept {
    constexpr signal_set k_faults = sets_of({SIGSEGV, SIGBUS, SIGFPE, SIGILL});
    bool const is_of_instruction = about.si_code > 0 && (k_faults & set_of(about.si_signo)) != 0 &&
                                   (about.si_signo != SIGBUS || about.si_code != BUS_MCEERR_AO);
    return is_of_instruction && self() != nullptr && is_in_program(arch::pc_of(context));
}

// As the kernel would call it, with all that it passes to handlers whatever their flags are. The
// run time may have been between a call and a look at errno.
void on_signal_of_kernel(int signal, siginfo_t* about, void* context) {
    auto const handler = reinterpret_cast<informed_handler>(
        s_actions[static_cast<std::size_t>(signal)].load().handler);
    if (is_fault_of_program(*about, *static_cast<ucontext_t const*>(context)))
        return handler(signal, about, context);
    kept_errno const kept;
    wakes_left const meanwhile(stack_of(context));
    handler(signal, about, context);
}

// Whoever writes to what nobody reads any more, or more than a file may have, gets this from the
// kernel as his call returns, in the code of the C library or of the run time.
bool is_of_own_output(siginfo_t const& about, ucontext_t const& interrupted) noexcept {
    constexpr signal_set k_of_output = sets_of({SIGPIPE, SIGXFSZ});
    return (set_of(about.si_signo) & k_of_output) != 0 && about.si_code == SI_USER &&
           about.si_pid == getpid() && self() != nullptr &&
           !is_in_program(arch::pc_of(interrupted));
}

// It is the thread's own, whatever others want. Its handler runs as the call ends
// (after_output), or soon, where the C library has written by itself.
void keep_for_itself(thread& t, siginfo_t const& about) noexcept {
    signal_set const one = set_of(about.si_signo);
    signal_action const a = action_of(about.si_signo);
    if (a.is_ignored()) return;
    bool const is_blocked = (t.blocked.load(std::memory_order_relaxed) & one) != 0; // its own
    if (a.is_standard() && !is_blocked) return act_as_standard(about.si_signo);
    static_cast<void>(signal_notes::put(about.si_signo, &t, about));
    t.pending.fetch_or(one, std::memory_order_release); // pairs with take_signal
    interrupt_computing();
}

void on_signal(int signal, siginfo_t* about, void* context) {
    kept_errno const kept;
    auto* const interrupted = static_cast<ucontext_t*>(context);
    bool const is_server = hands_out();
    if ((!stands_on_worker() && !is_server) || vfork_children::has_caller())
        return on_signal_of_os_thread(signal, about, context);
    if (is_wake_up(*about) && !is_server) end_if_cancelled(*interrupted);
    if (is_of_own_output(*about, *interrupted)) return keep_for_itself(*self(), *about);
    if (!is_wake_up(*about) && leave_to_process(*about, interrupted->uc_sigmask)) return;
    bool const is_done = !is_server && handle_here(signal, about, interrupted);
    if (!is_done && !is_wake_up(*about)) hand_out(*about, interrupted->uc_sigmask);
}

} // namespace

bool is_for_threads(int signal) noexcept { return (k_kernels & set_of(signal)) == 0; }
bool has_one_of_kernel(signal_set some) noexcept { return (k_kernels & some) != 0; }

bool is_ignored_by_standard(int signal) noexcept {
    return (k_ignored_by_standard & set_of(signal)) != 0;
}

signal_action action_of(int signal) noexcept {
    if (is_for_threads(signal)) return s_actions[static_cast<std::size_t>(signal)].load();
    struct sigaction found {};
    static_cast<void>(change_action_of_kernels(signal, nullptr, &found));
    return action_from(found);
}

interruption act(thread& t, int signal, siginfo_t about) {
    signal_action const a = action_of(signal);
    if (a.is_standard()) act_as_standard(signal);
    if (!a.has_handler()) return interruption::none;
    if (!is_for_threads(signal)) { // the kernel calls the handler, here
        TULLE_LIBC(raise)(signal);
        return end_of_call(a);
    }
    ucontext_t context;
    getcontext(&context);
    call_on(t, a, signal, &about, &context, true); // run_handlers handles it next
    open_mask_of_worker(t, false);
    return end_of_call(a);
}

// If the process goes on (after a stop), what the kernel was told is told to it again.
void act_as_standard(int signal) noexcept {
    if (is_ignored_by_standard(signal)) return;
    struct sigaction standard {};
    struct sigaction before {};
    standard.sa_handler = SIG_DFL;
    if (TULLE_LIBC(sigaction)(signal, &standard, &before) != 0) return;
    sigset_t const it = as_sigset(set_of(signal));
    sigset_t blocked;
    TULLE_LIBC(pthread_sigmask)(SIG_UNBLOCK, &it, &blocked);
    TULLE_LIBC(syscall)(static_cast<long>(SYS_tgkill), getpid(), os::thread_id(), signal);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &blocked, nullptr);
    TULLE_LIBC(sigaction)(signal, &before, nullptr);
}

namespace {

void guard_one(int signal) noexcept {
    with_lock([signal] {
        s_guarded.fetch_or(set_of(signal), std::memory_order_relaxed); // under the lock
        struct sigaction found {};
        bool const is_standard =
            TULLE_LIBC(sigaction)(signal, nullptr, &found) == 0 && found.sa_handler == SIG_DFL;
        return is_standard ? tell_kernel(signal, {}) : 0;
    });
}

} // namespace

void guard(signal_set blocked) noexcept {
    // relaxed, both: whoever sets it guards these afterwards; whoever has guarded the others has
    // told the kernel, or is about to.
    if (!s_has_begun.load(std::memory_order_relaxed)) return;
    signal_set const guarded = s_guarded.load(std::memory_order_relaxed);
    signal_set const wanted = blocked & ~k_kernels & ~k_ignored_by_standard & ~guarded;
    if (wanted == 0) return;
    for (signal_set left = wanted; left != 0; left &= left - 1) guard_one(first_of(left));
    start_to_hand_out();
}

void allow_interrupts() noexcept {
    // relaxed: as in guard
    if ((s_guarded.load(std::memory_order_relaxed) & set_of(k_interrupt)) != 0) return;
    guard_one(k_interrupt);
    start_to_hand_out();
}

void forget_changes_of_actions() noexcept { ::new (static_cast<void*>(&s_lock)) base::spin_lock; }

namespace {

// But the one for which the kernel may call on_signal all the same (allow_interrupts).
void leave_ignored_ones(signal_set blocked) noexcept {
    signal_set some = blocked & k_ignored_by_standard & ~set_of(k_interrupt);
    for (signal_set left = some; left != 0; left &= left - 1)
        if (!action_of(first_of(left)).is_standard()) some &= ~set_of(first_of(left));
    if (some != 0) leave_to_waiters(some);
}

} // namespace

// Handlers that the program has set before now are called by way of on_signal.
void begin_signals(signal_set blocked) noexcept {
    if (s_systems_ranges == 0) dl_iterate_phdr(&note_code, nullptr);
    s_has_begun.store(true, std::memory_order_relaxed); // relaxed: see guard
    guard(blocked);
    leave_ignored_ones(blocked);
    bool has_some = false;
    with_lock([&] {
        for (signal_set left = s_known; left != 0; left &= left - 1) {
            int const signal = first_of(left);
            if (!is_for_threads(signal)) {
                has_some |= begin_to_be_called(signal);
                continue;
            }
            signal_action const a = action_of(signal);
            if (!a.has_handler()) continue;
            has_some = true;
            static_cast<void>(tell_kernel(signal, a));
        }
        return 0;
    });
    if (has_some) start_to_hand_out();
}

bool has_some_handler() noexcept {
    return with_lock([] {
        signal_set left = s_known;
        while (left != 0 &&
               !s_actions[static_cast<std::size_t>(first_of(left))].load().has_handler())
            left &= left - 1;
        return left != 0;
    });
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int sigaction(int signal, struct sigaction const* wanted,
                              struct sigaction* before) noexcept {
    return change_action(signal, wanted, before);
}

namespace {

// What the kernel says of a stack, whose least size is another one on each architecture: the
// caller's OS thread has it for a moment. 0 or an errno value.
int why_refused(stack_t const& wanted) noexcept {
    return tulle::os::with_signals_blocked([&wanted] {
        stack_t own{};
        if (TULLE_LIBC(sigaltstack)(&wanted, &own) != 0)
            return errno == EPERM ? 0 : errno; // EPERM: the OS thread stands on its own one
        TULLE_LIBC(sigaltstack)(&own, nullptr);
        return 0;
    });
}

} // namespace

TULLE_INTERPOSE int sigaltstack(stack_t const* wanted, stack_t* before) noexcept {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(sigaltstack)(wanted, before);
    stack_t was = t->alternate;
    if (stands_on(was)) was.ss_flags |= SS_ONSTACK;
    if (wanted != nullptr) {
        bool const is_none = (wanted->ss_flags & SS_DISABLE) != 0;
        if (stands_on(was)) return fail(EPERM);
        if ((wanted->ss_flags & ~(SS_DISABLE | SS_ONSTACK)) != 0) return fail(EINVAL);
        if (int const error = is_none ? 0 : why_refused(*wanted)) return fail(error);
        t->alternate =
            is_none ? stack_t{nullptr, SS_DISABLE, 0} : stack_t{wanted->ss_sp, 0, wanted->ss_size};
    }
    if (before != nullptr) *before = was;
    return 0;
}

// As in BSD: calls begin anew.
TULLE_INTERPOSE sighandler_t signal(int signal, sighandler_t handler) noexcept {
    struct sigaction wanted {};
    struct sigaction before {};
    wanted.sa_handler = handler;
    wanted.sa_flags = SA_RESTART;
    if (handler == SIG_ERR) return fail(EINVAL), SIG_ERR;
    if (is_signal(signal)) sigaddset(&wanted.sa_mask, signal);
    return change_action(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}
