// SPDX-License-Identifier: Apache-2.0
// Signals that workers have got go to threads that want them: an OS thread, which nothing else
// interrupts, chooses one. If none wants a signal, the kernel keeps it for the process: its number
// is noted (s_unwanted), the signal is sent to the process again, and each worker that gets it
// blocks it from then on. So main and others find it there as natively, and so does a thread that
// unblocks it (want), on its worker. From then on this OS thread has it unblocked too, as a worker
// may end.
// What is known of a signal waits in signal_notes until somebody takes it.
// The same OS thread interrupts workers whose threads compute and are to end at any point.
#include "base/error.hpp"
#include "base/option.hpp"
#include "base/spin_lock.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/signals/uninterrupted.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include <sys/syscall.h>

namespace tulle::posix {

// relaxed, all: hints; the thread looks again.
bool waits_for(thread& t, signal_set one) noexcept {
    return (t.waits_for.load(std::memory_order_relaxed) & one) != 0;
}
bool wants(thread& t, signal_set one) noexcept {
    return (t.blocked.load(std::memory_order_relaxed) & one) == 0;
}

namespace {

std::atomic<signal_set> s_arrived{0}; // and not handed out yet
std::atomic<std::uint32_t> s_calls{0};
std::atomic<bool> s_interrupts{false};     // are wanted
std::atomic<signal_set> s_unwanted{0};     // see above
std::atomic<signal_set> s_was_unwanted{0}; // at some time
std::atomic<signal_set> s_left{0};         // of these, those of leave_to_waiters
std::atomic<int> s_server{0};              // the number of the OS thread; 0: it does not run yet
constinit std::atomic<bool> s_runs{false}; // or is being started
pthread_t s_main{};                        // who has loaded the library
std::atomic<signal_set> s_blocked_by_main{0};
std::atomic<signal_set> s_main_waits_for{0}; // in the kernel

// By the number of a worker: all that its OS thread blocks, and perhaps more. So a thread that
// wants none of it need not tell the kernel what it wants. Written on that OS thread, also by
// handlers, before the mask gets more and before it gets less: what a handler adds then stays.
std::array<std::atomic<signal_set>, 2 * base::k_most_workers> s_closed{}; // and substitutes

// Of the caller's worker; null: the caller is on another OS thread.
std::atomic<signal_set>* closed_here() noexcept {
    sched::worker const* const w = sched::this_worker();
    return w == nullptr || w->is_guest() ? nullptr : &s_closed[static_cast<std::size_t>(w->index)];
}

// A signal of ours, which is_wake_up knows by its value.
void wake_os_thread(int tid, int signal) noexcept {
    if (tid == 0) return;
    siginfo_t about{};
    about.si_code = SI_QUEUE;
    about.si_pid = getpid();
    about.si_value.sival_ptr = &s_calls;
    TULLE_LIBC(syscall)
    (static_cast<long>(SYS_rt_tgsigqueueinfo), getpid(), tid, signal, &about);
}

// A thread that waits for signals in the kernel gets this one there, or sees it when it looks
// before it waits: seq_cst, both (Dekker).
void wake_from_kernel(thread& t, int signal) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    wake_os_thread(t.waits_on.load(std::memory_order_relaxed), signal); // relaxed: the fence
}

// Who hands it out says so first: a thread that ends may take it, too. acq_rel: pairs with hand_out
// and with take_back.
bool take_arrived(signal_set one) noexcept {
    return (s_arrived.fetch_and(~one, std::memory_order_acq_rel) & one) != 0;
}
void take_back(signal_set one) noexcept { s_arrived.fetch_or(one, std::memory_order_release); }

// With the lock of the blocks held, as the thread may end, in all of these.

// Whether it has it, or somebody else. Either this sees that the thread blocks the signal by now
// and does not wait for it, or the thread sees the signal (give_back).
bool put_into(thread& t, signal_set one) noexcept {
    t.lent.fetch_or(one, std::memory_order_release);     // pairs with take_signal
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with give_back
    return wants(t, one) || waits_for(t, one) ||
           (t.lent.fetch_and(~one, std::memory_order_acquire) & one) == 0;
}

bool lend(thread& t, signal_set one) noexcept {
    if (!take_arrived(one)) return true; // somebody else has it
    if (!put_into(t, one)) return take_back(one), false;
    static_cast<void>(t.attention.request());
    wake_os_thread(t.unblocked_on.load(std::memory_order_relaxed), first_of(one)); // a hint
    wake_from_kernel(t, first_of(one));
    return true;
}

bool lend_to_waiter(thread& t, signal_set one) noexcept {
    return waits_for(t, one) && lend(t, one);
}
bool lend_to_one_that_wants(thread& t, signal_set one) noexcept {
    return wants(t, one) && lend(t, one);
}

// The OS thread that runs it, unless it has just left it or comes there; 0: none. relaxed, both:
// hints.
TULLE_NO_SANITIZE int os_thread_of(thread const& t) noexcept {
    void const* const fiber = t.stands_on.load(std::memory_order_relaxed);
    if (fiber == nullptr) return 0; // it has not begun
    for (auto const& s : sched::scheduler::instance().shepherds()) {
        for (sched::worker_remote const* const w : s->workers)
            if (w->current == fiber) return w->tid.load(std::memory_order_relaxed);
    }
    return 0;
}

// relaxed: a hint.
signal_set unblocked_for(thread const& t) noexcept {
    return signals_for(t) & ~t.blocked.load(std::memory_order_relaxed);
}
// Of those that no OS thread gets for itself.
signal_set not_taken(thread const& t) noexcept {
    signal_set some = unblocked_for(t);
    while (some != 0 && !is_for_threads(first_of(some))) some &= some - 1;
    return some;
}
bool has_not_taken_some(thread& t, signal_set) noexcept { return not_taken(t) != 0; }

// A thread that waits takes what it has, and one that computes is interrupted. It may have been
// about to leave the run time when it got a signal, or have set its mask on another OS thread.
bool remind(thread& t, signal_set) noexcept {
    if (unblocked_for(t) == 0) return false;  // go on with others, here and below
    static_cast<void>(t.attention.request()); // handlers and lend_noted leave it to this
    if (signal_set const some = not_taken(t)) wake_os_thread(os_thread_of(t), first_of(some));
    return false;
}

bool is_to_end_somewhere(thread& t, signal_set) noexcept {
    return t.is_cancelled.load(std::memory_order_relaxed) && ends_at_any_point(t); // relaxed: hint
}

// Whoever runs there looks whether it is to end.
void interrupt_workers() noexcept {
    for (auto const& s : sched::scheduler::instance().shepherds())
        for (sched::worker_remote const* const w : s->workers)
            wake_os_thread(w->tid.load(std::memory_order_relaxed), k_interrupt); // relaxed: a hint
}

enum class reminded : std::uint8_t { nobody, workers, threads };

// Workers are interrupted for threads that are to end, whatever they run.
reminded remind_all() noexcept {
    static_cast<void>(thread_blocks::find(&remind, 0));
    bool const some_wait = thread_blocks::find(&has_not_taken_some, 0) != nullptr;
    bool const some_end = thread_blocks::find(&is_to_end_somewhere, 0) != nullptr;
    if (some_end) interrupt_workers();
    return some_end ? reminded::workers : some_wait ? reminded::threads : reminded::nobody;
}

// How long to wait until threads are reminded; they have a while to take what they have got. One
// that calls short functions in a loop may be found in code of the program once of a hundred times.
// This OS thread is also called for what reminds nobody, such as wakes that handlers leave to it.
class reminders {
public:
    void begin() noexcept {
        m_goes_on = true;
        m_step_ns = k_first_ns;
        m_until_ns = 0;
        m_end_ns = os::monotonic_ns() + k_most_ns;
    }
    [[nodiscard]] std::uint64_t next() noexcept {
        if (!m_goes_on) return os::k_no_deadline;
        std::uint64_t const now = os::monotonic_ns();
        if (now < m_until_ns) return m_until_ns;
        reminded const who = now < m_end_ns ? remind_all() : reminded::nobody;
        m_goes_on = who != reminded::nobody;
        if (!m_goes_on) return os::k_no_deadline;
        bool const is_soon = who == reminded::threads;
        std::uint64_t const step = is_soon ? std::min(m_step_ns, k_soon_ns) : m_step_ns;
        m_step_ns = 2 * step;
        m_until_ns = now + step;
        return m_until_ns;
    }

private:
    static constexpr std::uint64_t k_first_ns = 1'000'000, k_soon_ns = 8'000'000;
    static constexpr std::uint64_t k_most_ns = 10'000'000'000;

    bool m_goes_on = false; // there may be somebody to remind
    std::uint64_t m_step_ns = k_first_ns;
    std::uint64_t m_until_ns = 0, m_end_ns = 0; // of the step; of all
};

// To the process, or to an OS thread of it, with all that is known. The kernel lets nobody claim to
// be the one who has sent it, but where a value comes with it.
void send(int tid, siginfo_t about) noexcept {
    int const signal = about.si_signo;
    bool const keeps = about.si_code < 0 && about.si_code != SI_TKILL;
    if (!keeps && tid == 0) return static_cast<void>(TULLE_LIBC(kill)(getpid(), signal));
    if (!keeps)
        TULLE_LIBC(syscall)(static_cast<long>(SYS_tgkill), getpid(), tid, signal);
    else if (tid == 0)
        TULLE_LIBC(syscall)(static_cast<long>(SYS_rt_sigqueueinfo), getpid(), signal, &about);
    else
        TULLE_LIBC(syscall)
    (static_cast<long>(SYS_rt_tgsigqueueinfo), getpid(), tid, signal, &about);
}

// To the process, by a handler, whose OS thread is not to get it again.
void send_back(siginfo_t const& about, sigset_t& blocked_afterwards) noexcept {
    note_closed(set_of(about.si_signo));
    sigaddset(&blocked_afterwards, about.si_signo);
    sigset_t const it = as_sigset(set_of(about.si_signo));
    TULLE_LIBC(pthread_sigmask)(SIG_BLOCK, &it, nullptr);
    send(0, about);
}

// All that have come for the process so far. What comes meanwhile is handed out afterwards, and may
// be what has been sent here.
void send_noted(int tid, int signal) noexcept {
    siginfo_t about{};
    about.si_signo = signal;
    std::size_t left = signal_notes::count(signal, nullptr);
    if (left == 0 && !is_queued(signal)) send(tid, about);
    for (; left != 0; --left) {
        if (signal_notes::take(signal, nullptr, about) == signal_notes::found::none) return;
        send(tid, about);
    }
}

// The standard action is one for the process, whoever it is that wants the signal.
bool act_if_standard(int signal) noexcept {
    if (!action_of(signal).is_standard()) return false;
    bool const is_wanted =
        main_wants(set_of(signal)) || thread_blocks::find(&wants, set_of(signal)) != nullptr;
    if (is_wanted && take_arrived(set_of(signal))) {
        signal_notes::drop(signal, nullptr);
        act_as_standard(signal);
    }
    return is_wanted;
}

bool send_to_main(int signal) noexcept {
    signal_set const one = set_of(signal);
    if (!main_wants(one)) return false;
    if (TULLE_LIBC(pthread_kill)(s_main, 0) != 0) return false;
    if (take_arrived(one)) send_noted(getpid(), signal); // which is main's number, too
    return true;
}

bool give_to_one_that_wants(int signal) noexcept {
    signal_set const one = set_of(signal);
    return thread_blocks::find(&lend_to_waiter, one) != nullptr || act_if_standard(signal) ||
           thread_blocks::find(&lend_to_one_that_wants, one) != nullptr || send_to_main(signal);
}

void give_to_somebody(int signal) noexcept {
    if (action_of(signal).is_ignored()) {
        signal_notes::drop(signal, nullptr);
        return static_cast<void>(take_arrived(set_of(signal)));
    }
    if (give_to_one_that_wants(signal)) return;
    note_unwanted(signal);
    if (give_to_one_that_wants(signal))
        note_wanted(signal);
    else if (take_arrived(set_of(signal)))
        send_noted(0, signal);
}

// What was unwanted once may have no worker that gets it.
void open_mask() noexcept {
    // relaxed, both: whoever changes them calls this thread afterwards.
    signal_set const open = s_was_unwanted.load(std::memory_order_relaxed) &
                            ~s_unwanted.load(std::memory_order_relaxed);
    sigset_t const blocked = as_sigset(~open);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &blocked, nullptr);
}

void* serve(void*) {
    os::set_name("tulle-signal");
    s_server.store(os::thread_id(), std::memory_order_relaxed); // relaxed: its own handlers read it
    for (reminders again;;) {
        std::uint32_t const seen =
            s_calls.load(std::memory_order_acquire); // pairs with call_server
        open_mask();
        wakes_left::make_up();
        signal_set all = s_arrived.load(std::memory_order_acquire); // pairs with hand_out
        os_attention::end_interrupted();
        // relaxed: set before the call of this thread, which has been seen, or ends the wait
        if (s_interrupts.exchange(false, std::memory_order_relaxed) || all != 0) again.begin();
        if (all == 0) static_cast<void>(os::futex_wait(s_calls, seen, again.next()));
        for (; all != 0; all &= all - 1) give_to_somebody(first_of(all));
    }
    return nullptr;
}

// Its notes are there already.
void hand_out_noted(int signal) noexcept {
    s_arrived.fetch_or(set_of(signal), std::memory_order_release); // pairs with serve
    call_server();
}

} // namespace

void call_server() noexcept {
    s_calls.fetch_add(1, std::memory_order_release); // pairs with serve
    static_cast<void>(os::futex_wake(s_calls, 1));
}

void hand_out(siginfo_t const& about, sigset_t& blocked_afterwards) noexcept {
    int const signal = about.si_signo;
    if (signal_notes::put(signal, nullptr, about) || !is_queued(signal))
        return hand_out_noted(signal);
    // There is no room: the kernel keeps it until somebody takes one. relaxed, both: that comes
    // after the second try, which had the lock, and finds them (take_note).
    s_was_unwanted.fetch_or(set_of(signal), std::memory_order_relaxed);
    s_unwanted.fetch_or(set_of(signal), std::memory_order_relaxed);
    if (signal_notes::put(signal, nullptr, about)) return hand_out_noted(signal);
    send_back(about, blocked_afterwards);
}

// Nobody waits for who starts it: calls are remembered, and where the program's allocator takes
// locks, it may be suspended meanwhile.
void start_to_hand_out() noexcept {
    if (s_runs.exchange(true, std::memory_order_relaxed)) return; // relaxed: it says no more
    int const error = os::with_signals_blocked([] {
        pthread_t started;
        int const failed = os::start_thread(started, &serve, nullptr);
        if (failed == 0) pthread_detach(started);
        return failed;
    });
    if (error == 0) return;
    s_runs.store(false, std::memory_order_relaxed); // relaxed: the next caller tries again
    base::warn("libtulle-preload: signals for threads wait, as there is no OS thread to hand "
               "them out (%s)",
               std::strerror(error));
}

bool hands_out() noexcept {
    return os::thread_id() == s_server.load(std::memory_order_relaxed); // relaxed: see serve
}

bool is_wake_up(siginfo_t const& about) noexcept {
    return about.si_code == SI_QUEUE && about.si_value.sival_ptr == &s_calls;
}

bool leave_to_process(siginfo_t const& about, sigset_t& blocked_afterwards) noexcept {
    // relaxed: a hint.
    if ((s_unwanted.load(std::memory_order_relaxed) & set_of(about.si_signo)) == 0) return false;
    send_back(about, blocked_afterwards);
    return true;
}

void leave_to_waiters(signal_set some) noexcept {
    // relaxed, all: before there are workers.
    s_left.fetch_or(some, std::memory_order_relaxed);
    s_was_unwanted.fetch_or(some, std::memory_order_relaxed);
    s_unwanted.fetch_or(some, std::memory_order_relaxed);
}
void leave_no_longer(signal_set some) noexcept {
    // relaxed: want() orders.
    if ((s_left.fetch_and(~some, std::memory_order_relaxed) & some) != 0) want(some);
}

void want(signal_set some) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with note_unwanted
    want_after_fence(some);
}
void want_after_fence(signal_set some) noexcept {
    some &= ~s_left.load(std::memory_order_relaxed);                      // relaxed: a hint
    if ((s_unwanted.load(std::memory_order_relaxed) & some) == 0) return; // relaxed: the fence
    s_unwanted.fetch_and(~some, std::memory_order_seq_cst);
    call_server();
}

bool is_on_own_os_thread() noexcept {
    sched::worker const* const w = sched::this_worker();
    return w == nullptr || w->is_guest();
}

// relaxed, all: the OS thread's own.
void note_closed(signal_set some) noexcept {
    if (auto* const closed = closed_here()) closed->fetch_or(some, std::memory_order_relaxed);
}

// relaxed, all: the thread's own, or the OS thread's; what is unwanted is wanted by nobody, at some
// time. A thread on its own OS thread, in a forked child, tells the kernel each time: a handler
// that it has run may have told it something else, and it runs few of them itself.
void open_mask_of_worker(thread& t, bool always) noexcept {
    if (!always && s_was_unwanted.load(std::memory_order_relaxed) != 0) note_worker(t);
    signal_set const own = t.blocked.load(std::memory_order_relaxed);
    auto* const closed = closed_here();
    if (!always && closed != nullptr && (closed->load(std::memory_order_relaxed) & ~own) == 0)
        return;
    signal_set const kept =
        closed == nullptr ? ~signal_set{0} : s_unwanted.load(std::memory_order_relaxed);
    if (closed != nullptr) closed->store(kept & own, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst); // the handlers of this OS thread
    sigset_t const blocked = as_sigset(kept & own);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &blocked, nullptr);
    note_worker(t);
}

// relaxed, both: hints.
void note_worker(thread& t) noexcept {
    sched::worker const* const on = sched::this_worker();
    if (on != nullptr)
        t.unblocked_on.store(on->tid.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void begin_worker() noexcept {
    signal_set const unwanted = s_unwanted.load(std::memory_order_relaxed); // relaxed: a hint
    note_closed(unwanted); // and what an OS thread before it had, perhaps
    sigset_t const blocked = as_sigset(unwanted);
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &blocked, nullptr);
}

namespace {

void hand_out_lent(thread& t, signal_set some) noexcept {
    signal_set const left = t.lent.fetch_and(~some, std::memory_order_acquire) & some;
    for (signal_set all = left; all != 0; all &= all - 1) hand_out_noted(first_of(all));
}

} // namespace

void give_back(thread& t, signal_set some) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);      // pairs with lend_to_one_that_wants
    if ((t.lent.load(std::memory_order_relaxed) & some) != 0) // relaxed: the fence
        hand_out_lent(t, some);
}

// relaxed: the lock of the blocks.
void give_back_all(thread& t) noexcept {
    if (t.lent.load(std::memory_order_relaxed) != 0) hand_out_lent(t, ~signal_set{0});
}

void note_unwanted(int signal) noexcept {
    s_was_unwanted.fetch_or(set_of(signal), std::memory_order_relaxed); // relaxed: a hint
    s_unwanted.fetch_or(set_of(signal), std::memory_order_relaxed);     // relaxed: the fence
    // Either a thread that wants it from now on is seen, or it sees this (Dekker; want). What the
    // caller reads next would not be ordered by the exchange, whatever the order of that.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
void note_wanted(int signal) noexcept {
    s_unwanted.fetch_and(~set_of(signal), std::memory_order_relaxed); // relaxed: a hint
}

void lend_noted(thread& t, int signal) noexcept {
    if (!put_into(t, set_of(signal))) return hand_out_noted(signal);
    wake_from_kernel(t, signal);
    interrupt_computing();
}

// relaxed: the thread's own
void lend_to_itself(thread& t, int signal) noexcept {
    t.lent.fetch_or(set_of(signal), std::memory_order_relaxed);
}

namespace {

// What the kernel has of these for the process; if there is no room for more, it has it again.
void take_from_kernel(thread& t, signal_set some) noexcept {
    sigset_t const set = as_sigset(some);
    timespec const at_once{};
    siginfo_t about;
    while (TULLE_LIBC(syscall)(static_cast<long>(SYS_rt_sigtimedwait), &set, &about, &at_once,
                               sizeof(signal_set)) > 0) {
        if (is_wake_up(about)) continue;
        bool const has_room = signal_notes::put(about.si_signo, nullptr, about);
        if (!has_room && is_queued(about.si_signo)) return send(0, about);
        lend_to_itself(t, about.si_signo);
    }
}

} // namespace

// What this OS thread does not block the kernel has given it. relaxed, all: what has been left to
// the kernel was noted there before; the OS thread's own.
void take_unblocked(thread& t, signal_set some) noexcept {
    some &=
        s_was_unwanted.load(std::memory_order_relaxed) & ~s_left.load(std::memory_order_relaxed);
    if (auto const* const closed = closed_here()) some &= closed->load(std::memory_order_relaxed);
    if (some == 0) return;
    kept_errno const kept;
    sigset_t pending;
    if (TULLE_LIBC(sigpending)(&pending) != 0 || (set_of(pending) & some) == 0) return;
    static_cast<void>(uninterrupted([&] {
        take_from_kernel(t, some);
        return 0;
    }));
}

namespace {

bool is_waited_for(signal_set one) noexcept {
    return main_waits_for(one) || thread_blocks::find(&waits_for, one) != nullptr;
}

} // namespace

// Who waits for one gets it as it is handed out. relaxed, all: the thread's own, or exchanged by
// take_arrived.
bool has_arrived_signals(thread& t) noexcept {
    open_mask_of_worker(t, false);
    signal_set const wanted = ~t.blocked.load(std::memory_order_relaxed);
    signal_set some = s_arrived.load(std::memory_order_relaxed) & wanted;
    for (; some != 0; some &= some - 1) {
        int const signal = first_of(some);
        signal_set const one = set_of(signal);
        if (action_of(signal).has_handler() && !is_waited_for(one) && take_arrived(one))
            lend_to_itself(t, signal);
    }
    return (signals_for(t) & wanted) != 0;
}

// relaxed, both: take_signal acquires.
signal_set signals_for(thread const& t) noexcept {
    return t.pending.load(std::memory_order_relaxed) | t.lent.load(std::memory_order_relaxed);
}

namespace {

// Of one that is not queued there may be no note.
bool take_note(int signal, thread const* to, siginfo_t& about, bool& are_more) noexcept {
    signal_notes::found const how = signal_notes::take(signal, to, about);
    are_more = how == signal_notes::found::one_of_some;
    if (is_queued(signal)) want(~signal_set{0}); // there may have been no room for others
    return how != signal_notes::found::none || !is_queued(signal);
}

} // namespace

// A queued signal of which others have come meanwhile stays.
bool take_signal(thread& t, int signal, siginfo_t& about) noexcept {
    signal_set const one = set_of(signal);
    about = {};
    about.si_signo = signal;
    bool are_more = false;
    // acquire, both: pairs with lend and send_to.
    if ((t.pending.fetch_and(~one, std::memory_order_acquire) & one) != 0) {
        about.si_code = SI_TKILL;
        about.si_pid = getpid();
        about.si_uid = getuid();
        bool const has = take_note(signal, &t, about, are_more);
        if (are_more) t.pending.fetch_or(one, std::memory_order_relaxed); // relaxed: its own
        return has;
    }
    if ((t.lent.fetch_and(~one, std::memory_order_acquire) & one) == 0) return false;
    about.si_code = SI_USER;
    bool const has = take_note(signal, nullptr, about, are_more);
    if (are_more) hand_out_noted(signal);
    return has;
}

void interrupt_computing() noexcept {
    s_interrupts.store(true, std::memory_order_relaxed); // relaxed: call_server
    call_server();
}

namespace {

void end_wait_in_kernel(thread& t) noexcept {
    // What is requested comes before this look, as in the thread what it waits for comes before its
    // own (Dekker).
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with wait_in_kernel
    signal_set const some = t.waits_for.load(std::memory_order_relaxed); // relaxed: the fence
    if (some != 0) wake_from_kernel(t, first_of(some));
}

} // namespace

void call_attention(thread& t) noexcept {
    uncancelled const meanwhile;
    static_cast<void>(t.attention.request());
    end_wait_in_kernel(t);
}

// One that has not begun, or waits, looks itself. A handler that the kernel has called may have
// interrupted whoever holds the locks of that, its own thread included: then the OS thread that
// hands signals out does it (remind).
void call_attention_to_signal(thread& t) noexcept {
    if (wakes_left::by_caller()) {
        end_wait_in_kernel(t);
        return interrupt_computing();
    }
    call_attention(t);
    if (os_thread_of(t) != 0 && has_not_taken_some(t, 0)) interrupt_computing();
}

void note_main() noexcept {
    s_main = pthread_self();
    note_mask_of_main(mask_in_kernel());
}

bool is_main() noexcept { return pthread_equal(pthread_self(), s_main) != 0; }

// relaxed, in these: as it is at some time.
void note_mask_of_main(signal_set blocked) noexcept {
    s_blocked_by_main.store(blocked, std::memory_order_relaxed);
}
signal_set note_wait_of_main(signal_set some) noexcept {
    return s_main_waits_for.exchange(some, std::memory_order_relaxed);
}
bool main_wants(signal_set one) noexcept {
    return (s_blocked_by_main.load(std::memory_order_relaxed) & one) == 0;
}
bool main_waits_for(signal_set one) noexcept {
    return (s_main_waits_for.load(std::memory_order_relaxed) & one) != 0;
}

// What it blocks is noted as what no mask has.
void note_end_of_main() noexcept {
    note_mask_of_main(~signal_set{0});
    static_cast<void>(note_wait_of_main(0));
}

signal_set mask_of_main() noexcept {
    signal_set const noted = s_blocked_by_main.load(std::memory_order_relaxed); // relaxed: as above
    return noted == ~signal_set{0} ? 0 : noted;
}

void forget_signals() noexcept {
    signal_notes::forget();
    s_runs.store(false, std::memory_order_relaxed); // relaxed: there is one thread
    // relaxed, all: there is one thread.
    s_server.store(0, std::memory_order_relaxed);
    s_arrived.store(0, std::memory_order_relaxed);
    s_left.store(0, std::memory_order_relaxed);
    s_unwanted.store(0, std::memory_order_relaxed);
    s_was_unwanted.store(0, std::memory_order_relaxed);
    static_cast<void>(note_wait_of_main(0));
    if (self() != nullptr) note_end_of_main(); // there is none
}

} // namespace tulle::posix
