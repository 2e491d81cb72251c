// SPDX-License-Identifier: Apache-2.0
// syscall(2) of futexes that one process has: std::atomic::wait, and what other languages and
// libraries build their locks of, wait in the table of all locks. What closes or replaces
// descriptors leaves the run time's as they are.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/c_library/own.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "compat/pthread/threads/scheduling.hpp"

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <optional>

#include <linux/futex.h>
#include <sys/syscall.h>

TULLE_OWN(clock_gettime);
TULLE_OWN(close);
TULLE_OWN(close_range);
TULLE_OWN(dup2);
TULLE_OWN(dup3);
TULLE_OWN(getpriority);
TULLE_OWN(getrusage);
TULLE_OWN(prctl);
TULLE_OWN(sched_getparam);
TULLE_OWN(sched_getscheduler);
TULLE_OWN(sched_rr_get_interval);
TULLE_OWN(sched_setaffinity);
TULLE_OWN(sched_setparam);
TULLE_OWN(sched_setscheduler);
TULLE_OWN(setpriority);

namespace {

using namespace tulle::posix;

struct futex_call {
    futex_word& word;
    int operation;
    std::uint32_t value;
    timespec const* time;
    futex_word* second;
    std::uint32_t third;
};

std::uint64_t deadline_of(futex_call const& c) noexcept {
    if (c.time == nullptr) return tulle::wait::k_never;
    if ((c.operation & FUTEX_CMD_MASK) == FUTEX_WAIT) return deadline_after(*c.time);
    bool const is_real_time = (c.operation & FUTEX_CLOCK_REALTIME) != 0;
    return deadline_at(is_real_time ? CLOCK_REALTIME : CLOCK_MONOTONIC, *c.time);
}

// Whether handlers have run that end the call. It is no cancellation point.
bool is_interrupted(thread* caller, os_attention& attention, bool is_timed) {
    return caller != nullptr ? ends_at(run_handlers(*caller), is_timed) : attention.renew();
}

// As in the kernel, a wait without a limit goes on after a handler that restarts calls.
long wait(futex_call const& c, std::uint32_t bits) {
    if (bits == 0 || (c.time != nullptr && (!is_time(*c.time) || c.time->tv_sec < 0)))
        return fail(EINVAL);
    thread* const caller = self();
    std::uint64_t const deadline = deadline_of(c);
    bool const is_timed = c.time != nullptr;
    os_attention attention(caller,
                           is_timed ? ended_by::all_handlers : ended_by::handlers_without_restart);
    for (;;) {
        int const error = futex_wait(c.word, c.value, attention.until(deadline), bits);
        if (error == 0) return 0;
        if (error != ECANCELED) return fail(error);
        if (is_interrupted(caller, attention, is_timed)) return fail(EINTR);
    }
}

// The kernel wakes one where none is asked for, and as many as it can below zero.
int most_to_wake(std::uint32_t value) noexcept {
    return static_cast<int>(std::clamp<std::uint32_t>(value, 1, INT_MAX));
}

// Those that were to wait at the second word try anew instead, as after any spurious wake. `time`
// is the number of these.
long requeue(futex_call const& c, bool compares) noexcept {
    if (compares && c.word.load(std::memory_order_seq_cst) != c.third) return fail(EAGAIN);
    std::uint64_t const most = std::uint64_t{c.value} + reinterpret_cast<std::uintptr_t>(c.time);
    return futex_wake(c.word, static_cast<int>(std::min<std::uint64_t>(most, INT_MAX)));
}

// --- FUTEX_WAKE_OP: the third number says what is done to the second word, and what is compared --

struct word_change {
    std::uint32_t operation, comparison;
    std::int32_t operand, compared;
};

// 12 bits of two's complement.
std::int32_t signed_part(std::uint32_t bits) noexcept {
    return static_cast<std::int32_t>(bits << 20U) >> 20U;
}

word_change change_of(std::uint32_t number) noexcept {
    word_change c{number >> 28U & 7U, number >> 24U & 15U, signed_part(number >> 12U),
                  signed_part(number)};
    bool const is_bit = (number >> 28U & FUTEX_OP_OPARG_SHIFT) != 0;
    if (is_bit)
        c.operand = static_cast<std::int32_t>(1U << (static_cast<unsigned>(c.operand) % 32));
    return c;
}

// What the word was; nothing: there is no such operation. seq_cst, all: as the kernel's.
std::optional<std::int32_t> apply(word_change const& c, futex_word& word) noexcept {
    auto const operand = static_cast<std::uint32_t>(c.operand);
    auto const was = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
    switch (c.operation) {
        case FUTEX_OP_SET: return was(word.exchange(operand, std::memory_order_seq_cst));
        case FUTEX_OP_ADD: return was(word.fetch_add(operand, std::memory_order_seq_cst));
        case FUTEX_OP_OR: return was(word.fetch_or(operand, std::memory_order_seq_cst));
        case FUTEX_OP_ANDN: return was(word.fetch_and(~operand, std::memory_order_seq_cst));
        case FUTEX_OP_XOR: return was(word.fetch_xor(operand, std::memory_order_seq_cst));
        default: return std::nullopt;
    }
}

// Nothing: there is no such comparison.
std::optional<bool> holds(word_change const& c, std::int32_t was) noexcept {
    switch (c.comparison) {
        case FUTEX_OP_CMP_EQ: return was == c.compared;
        case FUTEX_OP_CMP_NE: return was != c.compared;
        case FUTEX_OP_CMP_LT: return was < c.compared;
        case FUTEX_OP_CMP_LE: return was <= c.compared;
        case FUTEX_OP_CMP_GT: return was > c.compared;
        case FUTEX_OP_CMP_GE: return was >= c.compared;
        default: return std::nullopt;
    }
}

// `time` is how many to wake at the second word.
long wake_and_change(futex_call const& c) noexcept {
    if (c.second == nullptr) return fail(EFAULT);
    auto const is_odd = [](auto* word) {
        return reinterpret_cast<std::uintptr_t>(word) % sizeof(std::int32_t) != 0;
    };
    if (is_odd(&c.word) || is_odd(c.second)) return fail(EINVAL);
    word_change const change = change_of(c.third);
    std::optional<std::int32_t> const was = apply(change, *c.second);
    std::optional<bool> const wakes_second = was ? holds(change, *was) : std::nullopt;
    if (!wakes_second) return fail(ENOSYS);
    int const woken = futex_wake(c.word, most_to_wake(c.value));
    if (!*wakes_second) return woken;
    auto const most = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(c.time));
    return woken + futex_wake(*c.second, most_to_wake(most));
}

// Before there are threads: some may wait by instructions of the program's own, as ever.
long wake_early(futex_call const& c) {
    int const most = most_to_wake(c.value);
    long const woken = TULLE_LIBC(syscall)(static_cast<long>(SYS_futex), &c.word, c.operation, most,
                                           nullptr, nullptr, c.third);
    if (woken < 0 || woken >= most) return woken;
    bool const has_bits = (c.operation & FUTEX_CMD_MASK) == FUTEX_WAKE_BITSET;
    return woken +
           futex_wake(c.word, most - static_cast<int>(woken), has_bits ? c.third : k_any_bits);
}

long serve(futex_call const& c) {
    if (!is_started()) return wake_early(c);
    switch (c.operation & FUTEX_CMD_MASK) {
        case FUTEX_WAIT: return wait(c, k_any_bits);
        case FUTEX_WAIT_BITSET: return wait(c, c.third);
        case FUTEX_WAKE: return futex_wake(c.word, most_to_wake(c.value));
        case FUTEX_WAKE_BITSET:
            return c.third == 0 ? fail(EINVAL) : futex_wake(c.word, most_to_wake(c.value), c.third);
        case FUTEX_REQUEUE: return requeue(c, false);
        case FUTEX_CMP_REQUEUE: return requeue(c, true);
        case FUTEX_WAKE_OP: return wake_and_change(c);
        default: return fail(ENOSYS);
    }
}

// Those that take an owner are locks of OS threads.
bool is_ours(int operation) noexcept {
    int const command = operation & FUTEX_CMD_MASK;
    bool const has_owner = command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2 ||
                           command == FUTEX_UNLOCK_PI || command == FUTEX_TRYLOCK_PI ||
                           command == FUTEX_WAIT_REQUEUE_PI || command == FUTEX_CMP_REQUEUE_PI;
    if ((operation & FUTEX_PRIVATE_FLAG) == 0 || has_owner) return false;
    // Who waits, or is woken, may have begun to wait in the kernel before there were threads, or be
    // about to wait in the table.
    bool const wakes = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
    return wakes || is_started();
}

// Calls that headers may not know yet; their numbers are the same on all architectures. They wait
// in the kernel, where whoever wakes by another call looks for them, and wake in the table, too.
constexpr long k_futex_waitv = 449, k_futex_wake = 454, k_futex_wait = 455, k_futex_requeue = 456;
constexpr long k_size_and_scope = 0x83, k_private_32_bits = 0x82;

long wake_by_newer_call(long const (&a)[6]) {
    long const woken = TULLE_LIBC(syscall)(k_futex_wake, a[0], a[1], a[2], a[3]);
    long const left = static_cast<int>(a[2]) - woken;
    if (woken < 0 || left <= 0 || (a[3] & k_size_and_scope) != k_private_32_bits) return woken;
    return woken + futex_wake(*reinterpret_cast<futex_word*>(a[0]), static_cast<int>(left),
                              static_cast<std::uint32_t>(a[1]));
}

// The kernel has compared the first word, and moved those that wait there; of the others as many
// are woken as it might have moved or woken.
long requeue_by_newer_call(long const (&a)[6]) {
    struct of_futex { // futex_waitv of the kernel
        std::uint64_t value, at;
        std::uint32_t flags, unused;
    };
    long const moved = TULLE_LIBC(syscall)(k_futex_requeue, a[0], a[1], a[2], a[3]);
    if (moved < 0) return moved;
    auto const& first = *reinterpret_cast<of_futex const*>(a[0]);
    long const left = long{static_cast<int>(a[2])} + static_cast<int>(a[3]) - moved;
    if (left <= 0 || (first.flags & k_size_and_scope) != k_private_32_bits) return moved;
    return moved + futex_wake(*reinterpret_cast<futex_word*>(first.at),
                              static_cast<int>(std::min<long>(left, INT_MAX)));
}

bool waits_early(int operation) noexcept {
    int const command = operation & FUTEX_CMD_MASK;
    bool const waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    return waits && (operation & FUTEX_PRIVATE_FLAG) != 0;
}

// What is said and asked of the scheduling of the calling thread, and not of its worker. Nothing:
// the kernel is asked, which tells of a nice value what is left of it up to 20.
std::optional<long> answer_of_scheduling(long number, long const (&a)[6]) noexcept {
    auto const who = static_cast<pid_t>(a[0]);
    auto const first = static_cast<int>(a[0]);
    switch (number) {
        case SYS_setpriority:
            return tulle_own_setpriority(static_cast<__priority_which_t>(first),
                                         static_cast<id_t>(a[1]), static_cast<int>(a[2]));
        case SYS_getpriority:
            if (first != PRIO_PROCESS || own_by_number(static_cast<int>(a[1])) == nullptr)
                return std::nullopt;
            return 20 - tulle_own_getpriority(PRIO_PROCESS, 0);
        case SYS_sched_setscheduler:
            return tulle_own_sched_setscheduler(who, static_cast<int>(a[1]),
                                                reinterpret_cast<sched_param const*>(a[2]));
        case SYS_sched_getscheduler: return tulle_own_sched_getscheduler(who);
        case SYS_sched_setparam:
            return tulle_own_sched_setparam(who, reinterpret_cast<sched_param const*>(a[1]));
        case SYS_sched_getparam:
            return tulle_own_sched_getparam(who, reinterpret_cast<sched_param*>(a[1]));
        case SYS_sched_rr_get_interval:
            return tulle_own_sched_rr_get_interval(who, reinterpret_cast<timespec*>(a[1]));
        case SYS_sched_setattr: return change_attributes(a[0], reinterpret_cast<void*>(a[1]), a[2]);
        case SYS_sched_getattr:
            return tell_attributes(a[0], reinterpret_cast<void*>(a[1]), a[2], a[3]);
        case SYS_ioprio_set: return change_io_priority(a[0], a[1], a[2]);
        case SYS_ioprio_get: return tell_io_priority(a[0], a[1]);
        default: return std::nullopt;
    }
}

// Likewise of what else the system has of each thread: processors, the name, times.
std::optional<long> answer_of_thread(long number, long const (&a)[6]) noexcept {
    auto const first = static_cast<int>(a[0]);
    switch (number) {
        case SYS_sched_setaffinity:
            return tulle_own_sched_setaffinity(first, static_cast<unsigned>(a[1]),
                                               reinterpret_cast<cpu_set_t const*>(a[2]));
        case SYS_sched_getaffinity: // which tells how much it has written
            if (own_by_number(first) == nullptr) return std::nullopt;
            return TULLE_LIBC(syscall)(number, getpid(), a[1], a[2]);
        case SYS_prctl:
            if (first != PR_SET_NAME && first != PR_GET_NAME) return std::nullopt;
            return tulle_own_prctl(first, a[1], a[2], a[3], a[4]);
        case SYS_getrusage:
            if (first != RUSAGE_THREAD) return std::nullopt;
            return tulle_own_getrusage(RUSAGE_THREAD, reinterpret_cast<rusage*>(a[1]));
        case SYS_clock_gettime:
            if (first != CLOCK_THREAD_CPUTIME_ID) return std::nullopt;
            return tulle_own_clock_gettime(first, reinterpret_cast<timespec*>(a[1]));
        default: return answer_of_scheduling(number, a);
    }
}

// Whether what is known of sockets may not hold after the call.
bool touches_descriptors(long number) noexcept {
    switch (number) {
        case SYS_fcntl:
        case SYS_ioctl:
        case SYS_setsockopt:
#if defined(SYS_fork)
        case SYS_fork:
        case SYS_vfork:
#endif
        case SYS_clone:
        case SYS_clone3:
        case SYS_pidfd_getfd:
        case SYS_sendmsg:
        case SYS_sendmmsg:
        case SYS_recvmsg:
        case SYS_recvmmsg:
        case SYS_io_uring_enter: return true;
        default: return false;
    }
}

} // namespace

// Not TULLE_INTERPOSE, as the C library's header has it throw nothing, and a handler may end the
// thread.
extern "C" TULLE_API long tulle_wait_syscall(long number, ...) asm("syscall");
extern "C" TULLE_API long tulle_wait_syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (long& argument : a) argument = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && is_ours(static_cast<int>(a[1])))
        return serve({*reinterpret_cast<futex_word*>(a[0]), static_cast<int>(a[1]),
                      static_cast<std::uint32_t>(a[2]), reinterpret_cast<timespec const*>(a[3]),
                      reinterpret_cast<futex_word*>(a[4]), static_cast<std::uint32_t>(a[5])});
    bool const waits_in_kernel = (number == SYS_futex && waits_early(static_cast<int>(a[1]))) ||
                                 number == k_futex_waitv || number == k_futex_wait;
    if (waits_in_kernel) {
        kernel_waiter const noted;
        return TULLE_LIBC(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    if (number == k_futex_wake) return wake_by_newer_call(a);
    if (number == k_futex_requeue) return requeue_by_newer_call(a);
    if (number == SYS_exit) leave_at_once();
    if (auto const answered = answer_of_thread(number, a)) return *answered;
    if (number == SYS_close) return tulle_own_close(static_cast<int>(a[0]));
    if (number == SYS_close_range)
        return tulle_own_close_range(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]),
                                     static_cast<int>(a[2]));
    if (number == SYS_dup3)
        return tulle_own_dup3(static_cast<int>(a[0]), static_cast<int>(a[1]),
                              static_cast<int>(a[2]));
#if defined(SYS_dup2)
    if (number == SYS_dup2) return tulle_own_dup2(static_cast<int>(a[0]), static_cast<int>(a[1]));
#endif
    bool const touches = touches_descriptors(number);
    if (TULLE_UNLIKELY(touches)) known_descriptors::note_sharing(); // a child goes on at once
    long const result = TULLE_LIBC(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (TULLE_UNLIKELY(touches)) known_descriptors::note_sharing();
    return result;
}
