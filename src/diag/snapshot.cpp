// SPDX-License-Identifier: Apache-2.0
#include "diag/snapshot.hpp"

#include "os/clock.hpp"
#include "os/futex.hpp"

#include <atomic>
#include <csignal>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

// How long is waited for a worker that has the signal blocked, or is deep in the kernel.
constexpr std::uint64_t k_patience_ns = 200'000'000;

// Odd: workers are to stand still. Changes with each request.
std::atomic<std::uint32_t> g_round{0};

void leave_registers(sched::worker_remote& w, ucontext_t const& interrupted,
                     std::uint32_t round) noexcept {
    w.stopped_at = arch::registers_of(interrupted);
    w.stopped_in.store(round, std::memory_order_release); // pairs with has_stopped
}

bool has_stopped(sched::worker_remote const& w, std::uint32_t round) noexcept {
    return w.stopped_in.load(std::memory_order_acquire) == round; // pairs with leave_registers
}

// With a value, so that a worker that takes it late does not take it for a request.
void ask_to_stop(int tid, int signal) noexcept {
    siginfo_t info{};
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = ::getpid();
    info.si_uid = ::getuid();
    info.si_value.sival_ptr = &g_round;
    static_cast<void>(::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), tid, signal, &info));
}

void pass_on(sched::scheduler& scheduler, int signal, std::uint32_t round) noexcept {
    for (sched::worker_remote const* const w : scheduler.workers()) {
        int const tid = w->tid.load(std::memory_order_relaxed); // relaxed: 0 until it has started
        if (tid != 0 && !has_stopped(*w, round)) ask_to_stop(tid, signal);
    }
}

bool all_have_stopped(sched::scheduler& scheduler, std::uint32_t round) noexcept {
    for (sched::worker_remote const* const w : scheduler.workers()) {
        // relaxed: as above.
        if (w->tid.load(std::memory_order_relaxed) != 0 && !has_stopped(*w, round)) return false;
    }
    return true;
}

} // namespace

void stop_workers(sched::scheduler& scheduler, int signal, ucontext_t const& own) noexcept {
    // pairs with stand_still_if_asked.
    std::uint32_t const round = g_round.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (sched::worker* const w = sched::this_worker()) leave_registers(*w, own, round);
    pass_on(scheduler, signal, round);
    std::uint64_t const give_up = os::monotonic_ns() + k_patience_ns;
    while (!all_have_stopped(scheduler, round) && os::monotonic_ns() < give_up) {
        timespec const pause{0, 100'000};
        static_cast<void>(::nanosleep(&pause, nullptr));
    }
}

void let_workers_go() noexcept {
    g_round.fetch_add(1, std::memory_order_acq_rel); // pairs with stand_still_if_asked
    os::futex_wake(g_round, INT32_MAX);
}

bool is_from_stopper(siginfo_t const& info) noexcept {
    return info.si_code == SI_QUEUE && info.si_pid == ::getpid() &&
           info.si_value.sival_ptr == &g_round;
}

void forget_stop() noexcept {
    // relaxed: there is one thread
    std::uint32_t const round = g_round.load(std::memory_order_relaxed);
    g_round.store(round + round % 2, std::memory_order_relaxed);
}

bool stand_still_if_asked(ucontext_t const& interrupted) noexcept {
    std::uint32_t const round = g_round.load(std::memory_order_acquire); // pairs with stop_workers
    sched::worker* const w = sched::this_worker();
    if (round % 2 == 0 || w == nullptr || has_stopped(*w, round)) return false;
    leave_registers(*w, interrupted, round);
    while (g_round.load(std::memory_order_acquire) == round) // pairs with let_workers_go
        static_cast<void>(os::futex_wait(g_round, round, os::k_no_deadline));
    return true;
}

} // namespace tulle::diag
