// SPDX-License-Identifier: Apache-2.0
// Signals that workers have got go to threads that want them: an OS thread, which nothing
// interrupts, chooses one.
#include "base/error.hpp"
#include "base/spin_lock.hpp"
#include "compat/pthread/libc.hpp"
#include "compat/pthread/signals.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"

#include <cstring>
#include <mutex>

#include <sys/syscall.h>

namespace tulle::posix {

namespace {

std::atomic<signal_set> s_arrived{0}; // and not handed out yet
std::atomic<std::uint32_t> s_calls{0};
std::atomic<signal_set> s_unwanted{0}; // wait for a thread that wants them
base::spin_lock s_lock;                // guards the next one
bool s_runs = false;
pthread_t const s_main = pthread_self(); // who has loaded the library
std::atomic<signal_set> s_blocked_by_main{0};

// A thread that waits for signals in the kernel gets this one there, or sees it when it looks
// before it waits: seq_cst, both (Dekker).
void wake_from_kernel(thread& t, int signal) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int const on = t.waits_on.load(std::memory_order_relaxed); // relaxed: the fence
    if (on != 0) TULLE_LIBC(syscall)(static_cast<long>(SYS_tgkill), getpid(), on, signal);
}

// relaxed, both: hints; the thread looks again.
bool waits_for(thread& t, signal_set one) noexcept {
    return (t.waits_for.load(std::memory_order_relaxed) & one) != 0;
}
bool wants(thread& t, signal_set one) noexcept {
    return (t.blocked.load(std::memory_order_relaxed) & one) == 0;
}

void give(thread& t, int signal) noexcept {
    t.pending.fetch_or(set_of(signal), std::memory_order_release); // pairs with take_signal
    static_cast<void>(t.attention.request());
}

void give_to_somebody(int signal) noexcept {
    signal_set const one = set_of(signal);
    signal_action const a = action_of(signal);
    if (a.is_ignored()) return;
    if (thread* const t = thread_blocks::find(&waits_for, one)) {
        give(*t, signal);
        return wake_from_kernel(*t, signal);
    }
    // relaxed: main's, at some time.
    bool const main_wants = (s_blocked_by_main.load(std::memory_order_relaxed) & one) == 0;
    thread* const t = thread_blocks::find(&wants, one);
    if (a.is_standard() && (main_wants || t != nullptr)) return act_as_standard(signal);
    if (t != nullptr) return give(*t, signal);
    if (main_wants && TULLE_LIBC(pthread_kill)(s_main, signal) == 0) return;
    s_unwanted.fetch_or(one, std::memory_order_release); // pairs with take_signal
}

void* serve(void*) {
    os::set_name("tulle-signal");
    for (;;) {
        std::uint32_t const seen = s_calls.load(std::memory_order_acquire); // pairs with hand_out
        signal_set all = s_arrived.exchange(0, std::memory_order_acquire);
        if (all == 0) static_cast<void>(os::futex_wait(s_calls, seen));
        for (; all != 0; all &= all - 1) give_to_somebody(first_of(all));
    }
    return nullptr;
}

} // namespace

void hand_out(int signal) noexcept {
    s_arrived.fetch_or(set_of(signal), std::memory_order_release); // pairs with serve
    s_calls.fetch_add(1, std::memory_order_release);               // likewise
    static_cast<void>(os::futex_wake(s_calls, 1));
}

void start_to_hand_out() noexcept {
    int const error = os::with_signals_blocked([] {
        std::lock_guard const held(s_lock);
        pthread_t started;
        int const failed = s_runs ? 0 : os::start_thread(started, &serve, nullptr);
        if (!s_runs && failed == 0) pthread_detach(started);
        s_runs = failed == 0;
        return failed;
    });
    if (error != 0)
        base::warn("libtulle-preload: signals for threads wait, as there is no OS thread to hand "
                   "them out (%s)",
                   std::strerror(error));
}

signal_set signals_for(thread const& t) noexcept {
    // relaxed, both: take_signal acquires.
    return t.pending.load(std::memory_order_relaxed) | s_unwanted.load(std::memory_order_relaxed);
}

bool take_signal(thread& t, int signal) noexcept {
    signal_set const one = set_of(signal);
    // acquire, both: pairs with give and give_to_somebody.
    return (t.pending.fetch_and(~one, std::memory_order_acquire) & one) != 0 ||
           (s_unwanted.fetch_and(~one, std::memory_order_acquire) & one) != 0;
}

void call_attention(thread& t) noexcept {
    static_cast<void>(t.attention.request());
    signal_set const some = t.waits_for.load(std::memory_order_relaxed); // relaxed: a hint
    if (some != 0) wake_from_kernel(t, first_of(some));
}

bool is_main() noexcept { return pthread_equal(pthread_self(), s_main) != 0; }

void note_mask_of_main(signal_set blocked) noexcept {
    s_blocked_by_main.store(blocked, std::memory_order_relaxed); // relaxed: see give_to_somebody
}

void forget_signals() noexcept {
    ::new (static_cast<void*>(&s_lock)) base::spin_lock;
    s_runs = false;
    // relaxed, both: there is one thread.
    s_arrived.store(0, std::memory_order_relaxed);
    s_unwanted.store(0, std::memory_order_relaxed);
}

} // namespace tulle::posix
