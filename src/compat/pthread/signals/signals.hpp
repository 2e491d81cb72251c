// SPDX-License-Identifier: Apache-2.0
// Signals of a program whose threads are Tulle's. The kernel knows workers and other OS threads,
// and their masks, not the threads on them. So the kernel calls on_signal (actions.cpp) in
// place of the program's handlers:
//   - On an OS thread it calls the handler, as the kernel would.
//   - So it does on a worker whose thread wants the signal, if it has interrupted code of the
//     program. The run time and the C library may hold locks that the handler needs.
//   - Otherwise an OS thread (hand_out.cpp) hands the signal to a thread that wants it, or
//     leaves it to the kernel until one does.
// A thread runs the handlers of what it has been handed at its next call that may wait, and its
// wait ends for them (run_handlers).
// Handlers of faults and of profilers (is_for_threads) the kernel calls wherever it interrupts an
// OS thread, by way of on_signal_of_kernel (actions.cpp). Within them nothing is done for which the
// locks of the run time are needed: what they wake, and the signals that they send to threads, the
// OS thread of hand_out.cpp looks after (wakes_left, leaves_handlers).
#pragma once

#include "compat/pthread/signals/notes.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <csignal>

// Calls the function on another stack, downwards from `top` (arch/.../jumps.S).
extern "C" void tulle_call_on_stack(void* top, void (*function)(void*), void* argument);

namespace tulle::posix {

// The program's action, whatever the kernel's is.
struct signal_action {
    std::uintptr_t handler = 0; // or SIG_DFL, SIG_IGN
    int flags = 0;
    signal_set mask = 0;

    [[nodiscard]] bool is_standard() const noexcept { return is(SIG_DFL); }
    [[nodiscard]] bool is_ignored() const noexcept { return is(SIG_IGN); }
    [[nodiscard]] bool has_handler() const noexcept { return !is_standard() && !is_ignored(); }

private:
    [[nodiscard]] bool is(void (*value)(int)) const noexcept {
        return handler == reinterpret_cast<std::uintptr_t>(value);
    }
};

// --- actions (actions.cpp) -----------------------------------------------------------------------

// Those of a fault, of which each is for the OS thread that has made it, and of profilers, which
// look at what they interrupt, stay with the kernel.
[[nodiscard]] bool is_for_threads(int signal) noexcept;
[[nodiscard]] signal_action action_of(int signal) noexcept;
[[nodiscard]] bool has_one_of_kernel(signal_set some) noexcept;
[[nodiscard]] bool is_ignored_by_standard(int signal) noexcept;
// What the caller's thread `t` does at a signal that it has taken.
[[nodiscard]] interruption act(thread& t, int signal, siginfo_t about);
// The standard action, for the process.
void act_as_standard(int signal) noexcept;
// Some thread blocks these: where the standard action would end or stop the process, the kernel is
// not to take it at once from now on.
void guard(signal_set blocked) noexcept;

// From now on the kernel calls on_signal for k_interrupt, too.
void allow_interrupts() noexcept;

// The program's sigaction.
int change_action(int signal, struct sigaction const* wanted, struct sigaction* before) noexcept;

// --- masks (signals.cpp) ---------------------------------------------------------------------

// Another mask of the caller `t`, or none if it is null, for as long as a call waits. What it has
// for that mask ends the next wait.
class other_mask {
public:
    other_mask(thread& t, sigset_t const* mask) noexcept;
    other_mask(other_mask const&) = delete;
    other_mask& operator=(other_mask const&) = delete;
    ~other_mask();

private:
    thread& m_thread;
    signal_set m_before;
};

// The mask of the caller's OS thread is that of the caller `t` (null: an OS thread), for a call by
// which a program is started: it inherits the mask.
class inherited_mask {
public:
    explicit inherited_mask(thread* t) noexcept;
    inherited_mask(inherited_mask const&) = delete;
    inherited_mask& operator=(inherited_mask const&) = delete;
    ~inherited_mask();

private:
    thread* m_thread;
    sigset_t m_before;
};

// Of the caller `t`, who handles what it has by then. The second one does not tell the kernel, and
// takes from it what is unblocked, or leaves it there; it returns the mask of before.
void set_mask(thread& t, signal_set now) noexcept;
signal_set replace_mask(thread& t, signal_set now, bool takes) noexcept;

// Before the caller `t` blocks more, or after it has unblocked some: it handles what it has.
void run_handlers_at_once(thread& t);
// The caller, a thread, is in a handler that the kernel has called, and that may have interrupted
// the run time, such as the lock of what ends waits: no other handlers run within it, and it is no
// cancellation point, so that nothing there waits for itself. In a forked child the kernel calls
// all handlers, and delivers what the thread unblocks.
[[nodiscard]] bool leaves_handlers() noexcept;
// What the caller `t` has just sent itself, and does not block, is handled ahead of all else.
void handle_at_once(thread& t, siginfo_t const& about);

// A call of `t` that waits with another mask, which is a cancellation point. What its own mask lets
// in is handled before and afterwards. A cancellation that comes while that is handled is no
// request any more that would end the wait, so it is looked for in between.
template <class Wait> auto with_other_mask(thread& t, sigset_t const* mask, Wait wait) {
    if (mask != nullptr) run_handlers_at_once(t);
    test_cancel(&t);
    auto const result = [&] {
        other_mask const while_it_waits(t, mask);
        return wait();
    }();
    kept_errno const kept;
    if (mask != nullptr) run_handlers_at_once(t);
    return result;
}

// What a process tells of a signal that it sends to itself.
[[nodiscard]] siginfo_t note_of_own(int signal, int code) noexcept;

// --- who gets them (hand_out.cpp) ----------------------------------------------------------------

// False: somebody else has it, or `t` has all of it.
[[nodiscard]] bool take_signal(thread& t, int signal, siginfo_t& about) noexcept;
[[nodiscard]] signal_set signals_for(thread const& t) noexcept;
// Whether it waits for the signal in the kernel, and does not block it; hints.
[[nodiscard]] bool waits_for(thread& t, signal_set one) noexcept;
[[nodiscard]] bool wants(thread& t, signal_set one) noexcept;
// A signal for the process, of which the note is there, goes to `t`, which waits for it or wants
// it, with the lock of the blocks held; or to `t`, the caller. Any context.
void lend_noted(thread& t, int signal) noexcept;
void lend_to_itself(thread& t, int signal) noexcept;
// Nobody wants it, if nobody is found either when it is looked for again afterwards: OS threads
// leave it to the process from then on. And: somebody has been found.
void note_unwanted(int signal) noexcept;
void note_wanted(int signal) noexcept;
// Called by a handler: the signal is handed out; whether the calling OS thread is the one that does
// that; whether the signal is of one's own, to wake an OS thread; and whether nobody wants it, so
// that it has been left to the process, and the OS thread is to block it afterwards.
void hand_out(siginfo_t const& about, sigset_t& blocked_afterwards) noexcept;
[[nodiscard]] bool hands_out() noexcept;
[[nodiscard]] bool is_wake_up(siginfo_t const& about) noexcept;
[[nodiscard]] bool leave_to_process(siginfo_t const& about, sigset_t& blocked_afterwards) noexcept;
// Some thread does not block these any longer. After a fence (seq_cst) of the caller's that lies
// behind what others are to see, the second one does without its own.
void want(signal_set some) noexcept;
void want_after_fence(signal_set some) noexcept;
// The caller `t` has just unblocked these: what the kernel has of them for the process goes to it.
void take_unblocked(thread& t, signal_set some) noexcept;
// The caller `t` blocks these by now: others may want those that it has been lent. And all that `t`
// has been lent, which ends: nobody lends it any more, as it has been closed (thread_blocks).
void give_back(thread& t, signal_set some) noexcept;
void give_back_all(thread& t) noexcept;
// The caller, a thread, is the one that has called fork to make this process: its OS thread is its
// own, and blocks what it blocks.
[[nodiscard]] bool is_on_own_os_thread() noexcept;
// Lets the worker of `t`, the caller, get what it wants; if not `always`, the kernel is told only
// where the worker may block some of that (note_closed).
void open_mask_of_worker(thread& t, bool always) noexcept;
// The OS thread of the caller's worker is about to block these, by a handler. Any context.
void note_closed(signal_set some) noexcept;
// The worker of `t`, the caller, may get what it wants: it is woken for that.
void note_worker(thread& t) noexcept;
// Called by the OS thread of each worker, before it runs threads: what others have blocked is not
// for it.
void begin_worker() noexcept;
// That OS thread looks whether there is something to be done. Any context.
void call_server() noexcept;
// The OS thread that does it. Nothing happens if there is none to be had: signals wait.
void start_to_hand_out() noexcept;
// These are ignored by the standard action, which they have, and are blocked: no worker is to take
// them from whoever waits for them. And those of which the program has said something else since.
void leave_to_waiters(signal_set some) noexcept;
void leave_no_longer(signal_set some) noexcept;
// The caller is main, and there are no threads yet.
void note_main() noexcept;
// Of main, whose mask the kernel has.
void note_mask_of_main(signal_set blocked) noexcept;
[[nodiscard]] signal_set mask_of_main() noexcept;
// For what it waits in the kernel, as in sigwait, and with another mask; returns what was noted.
signal_set note_wait_of_main(signal_set some) noexcept;
// Nobody is to send it any more: it ends, or there is none.
void note_end_of_main() noexcept;
// Whether it does not block the signal, or waits for it; at some time.
[[nodiscard]] bool main_wants(signal_set one) noexcept;
[[nodiscard]] bool main_waits_for(signal_set one) noexcept;
[[nodiscard]] bool is_main() noexcept;
// If the caller is main: it waits in the kernel meanwhile, for these, or with this mask (null: with
// its own), which lets others in. A handler may jump out of it (threads/jumps.cpp).
class noted_wait {
public:
    explicit noted_wait(signal_set some) noexcept;
    [[nodiscard]] static noted_wait with_mask(sigset_t const* mask) noexcept;
    noted_wait(noted_wait const&) = delete;
    noted_wait& operator=(noted_wait const&) = delete;
    ~noted_wait();

private:
    bool m_is_noted;
    signal_set m_before = 0;
};
// The mask of the caller's OS thread.
[[nodiscard]] signal_set mask_in_kernel() noexcept;
// The caller `t` is about to end, or its child has: whether it has some that it does not block.
// What was sent by then reaches it, as natively, though nobody has handed it out yet.
[[nodiscard]] bool has_arrived_signals(thread& t) noexcept;

// Somebody has been cancelled who may compute, and end at any point: signals interrupt the workers,
// again and again for a while.
void interrupt_computing() noexcept;
// The signal for it, which does nothing where nobody handles it.
inline constexpr int k_interrupt = SIGURG;

// Ends the wait of `t`, which has been cancelled; or has a signal, which interrupts it if it
// computes.
void call_attention(thread& t) noexcept;
void call_attention_to_signal(thread& t) noexcept;

// The run time is about to start, and these are blocked by OS threads: from now on on_signal is
// called.
void begin_signals(signal_set blocked) noexcept;
// The program has, or has had, a handler. It may have set one while the run time started, when
// begin_signals had looked already, and who sets one did not see yet that it had started.
[[nodiscard]] bool has_some_handler() noexcept;
// In a forked child, whose only thread is the caller: others may have been in these.
void forget_signals() noexcept;
void forget_changes_of_actions() noexcept;

} // namespace tulle::posix
