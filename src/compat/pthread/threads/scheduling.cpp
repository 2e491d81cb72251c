// SPDX-License-Identifier: Apache-2.0
// Policies, priorities and nice values of threads, which are answered and have no effect, as
// workers run all threads alike: what was told to the kernel would hold for whatever runs on that
// worker later. Main, and other OS threads, have those of the kernel, and so has a forked child.
#include "compat/pthread/threads/scheduling.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include <linux/capability.h>
#include <sys/syscall.h>

namespace tulle::posix {

namespace {

constexpr int k_least_nice = -20, k_most_nice = 19;

// Calls of the kernel by numbers, not the program's functions: these are made of the kernel's.
int kernels_nice() noexcept {
    long const told = TULLE_LIBC(syscall)(static_cast<long>(SYS_getpriority), PRIO_PROCESS, 0);
    return told < 0 ? 0 : 20 - static_cast<int>(told);
}

// What an OS thread has, which makes a thread; it is asked for again after a change by any thread
// of the process. relaxed, all: a change that another thread makes meanwhile may come later.
constinit std::atomic<unsigned> s_changes{1};
struct known_scheduling {
    unsigned changes = 0; // when it was asked for; 0: it was not
    int policy = 0, priority = 0, nice = 0;
};
constinit thread_local known_scheduling t_known;

known_scheduling const& of_os_thread() noexcept {
    unsigned const changes = s_changes.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(t_known.changes == changes)) return t_known;
    sched_param how{};
    t_known.policy = std::max(TULLE_LIBC(sched_getscheduler)(0), 0);
    if (TULLE_LIBC(sched_getparam)(0, &how) == 0) t_known.priority = how.sched_priority;
    t_known.nice = kernels_nice();
    t_known.changes = changes;
    return t_known;
}
template <class Result> Result after_change(Result result) noexcept {
    s_changes.fetch_add(1, std::memory_order_relaxed);
    return result;
}

// --- who may do so -------------------------------------------------------------------------------

bool has_capability(unsigned which) noexcept {
    __user_cap_header_struct of{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {};
    return TULLE_LIBC(syscall)(static_cast<long>(SYS_capget), &of, has) == 0 &&
           (has[which / 32].effective >> which % 32 & 1U) != 0;
}

bool may_raise(__rlimit_resource_t of, int to) noexcept {
    rlimit limit{};
    bool const is_within =
        getrlimit(of, &limit) == 0 &&
        (limit.rlim_cur == RLIM_INFINITY || (to >= 0 && static_cast<rlim_t>(to) <= limit.rlim_cur));
    return is_within || has_capability(CAP_SYS_NICE);
}

// --- the thread's own ----------------------------------------------------------------------------

constexpr int own_policy(int policy) noexcept { return policy & ~SCHED_RESET_ON_FORK; }
constexpr bool is_real_time(int policy) noexcept {
    return own_policy(policy) == SCHED_FIFO || own_policy(policy) == SCHED_RR;
}

// 0, or an errno. A policy with deadlines (6) takes more than a priority.
int set_policy(thread& t, int policy, int priority) noexcept {
    constexpr int k_with_deadlines = 6;
    int const wanted = own_policy(policy);
    int const least = sched_get_priority_min(wanted), most = sched_get_priority_max(wanted);
    if (least < 0 || wanted == k_with_deadlines || priority < least || priority > most)
        return EINVAL;
    bool const is_same = wanted == own_policy(t.policy);
    bool const is_raised = is_real_time(wanted) && (!is_same || priority > t.priority);
    bool const is_awake = own_policy(t.policy) == SCHED_IDLE && !is_same;
    bool const is_unmarked = policy == wanted && (t.policy & SCHED_RESET_ON_FORK) != 0;
    if (is_raised && !may_raise(RLIMIT_RTPRIO, priority)) return EPERM;
    if (is_awake && !may_raise(RLIMIT_NICE, 20 - t.nice)) return EPERM;
    if (is_unmarked && !has_capability(CAP_SYS_NICE)) return EPERM;
    t.policy = policy;
    t.priority = priority;
    return 0;
}

int set_nice(thread& t, int value) noexcept {
    int const wanted = std::clamp(value, k_least_nice, k_most_nice);
    if (wanted < t.nice && !may_raise(RLIMIT_NICE, 20 - wanted)) return EACCES;
    t.nice = wanted;
    return 0;
}

// --- priorities of input and output --------------------------------------------------------------

// ioprio_set(2): in the upper bits the class, below it the level.
int check_io_priority(int value) noexcept {
    constexpr int k_none = 0, k_real_time = 1, k_idle = 3, k_levels = 8;
    int const level = value & (k_levels - 1), class_of = value >> 13;
    if (class_of < k_none || class_of > k_idle || (class_of == k_none && level != 0)) return EINVAL;
    bool const is_for_few = class_of == k_real_time;
    return !is_for_few || has_capability(CAP_SYS_ADMIN) || has_capability(CAP_SYS_NICE) ? 0 : EPERM;
}

} // namespace

// Null: another one is meant, or the caller has an OS thread of its own.
thread* own_by_number(long number) noexcept {
    thread* const t = thread_on_worker();
    return t != nullptr && (number == 0 || number == os::thread_id()) ? t : nullptr;
}

std::optional<long> change_io_priority(long which, long who, long value) noexcept {
    constexpr long k_thread = 1;
    thread* const t = which == k_thread ? own_by_number(who) : nullptr;
    if (t == nullptr) return std::nullopt;
    if (int const error = check_io_priority(static_cast<int>(value))) return fail(error);
    t->io_priority = static_cast<int>(value);
    return 0;
}
std::optional<long> tell_io_priority(long which, long who) noexcept {
    constexpr long k_thread = 1;
    thread const* const t = which == k_thread ? own_by_number(who) : nullptr;
    if (t == nullptr || t->io_priority < 0) return std::nullopt;
    return t->io_priority;
}

void inherit_scheduling(thread& t, thread const* by) noexcept {
    t.policy = by != nullptr ? by->policy : of_os_thread().policy;
    t.priority = by != nullptr ? by->priority : of_os_thread().priority;
    t.nice = by != nullptr ? by->nice : of_os_thread().nice;
    t.io_priority = by != nullptr ? by->io_priority : -1;
    if ((t.policy & SCHED_RESET_ON_FORK) == 0) return;
    t.policy = is_real_time(t.policy) ? SCHED_OTHER : own_policy(t.policy);
    t.priority = 0;
    t.nice = std::max(t.nice, 0);
}

// Its OS thread has that of the worker which has forked.
void begin_scheduling_of_child(thread const& t) noexcept {
    kept_errno const kept;
    sched_param const how{t.priority};
    after_change(0);
    if (kernels_nice() != t.nice) TULLE_LIBC(setpriority)(PRIO_PROCESS, 0, t.nice);
    if (TULLE_LIBC(sched_getscheduler)(0) != t.policy)
        TULLE_LIBC(sched_setscheduler)(0, t.policy, &how);
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_setschedparam(pthread_t id, int policy,
                                          sched_param const* how) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return after_change(TULLE_LIBC(pthread_setschedparam)(id, policy, how));
    return has_ended(*t) ? ESRCH : set_policy(*t, policy, how->sched_priority);
}

TULLE_INTERPOSE int pthread_getschedparam(pthread_t id, int* policy, sched_param* how) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getschedparam)(id, policy, how);
    if (has_ended(*t)) return ESRCH;
    *policy = t->policy;
    how->sched_priority = t->priority;
    return 0;
}

TULLE_INTERPOSE int pthread_setschedprio(pthread_t id, int priority) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return after_change(TULLE_LIBC(pthread_setschedprio)(id, priority));
    sched_param const how{priority};
    return pthread_setschedparam(id, t->policy, &how);
}

TULLE_INTERPOSE int sched_setscheduler(pid_t number, int policy, sched_param const* how) noexcept {
    thread* const t = own_by_number(number);
    if (t == nullptr) return after_change(TULLE_LIBC(sched_setscheduler)(number, policy, how));
    int const error =
        how == nullptr || policy < 0 ? EINVAL : set_policy(*t, policy, how->sched_priority);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int sched_getscheduler(pid_t number) noexcept {
    thread const* const t = own_by_number(number);
    return t == nullptr ? TULLE_LIBC(sched_getscheduler)(number) : t->policy;
}

TULLE_INTERPOSE int sched_setparam(pid_t number, sched_param const* how) noexcept {
    thread* const t = own_by_number(number);
    if (t == nullptr) return after_change(TULLE_LIBC(sched_setparam)(number, how));
    int const error = how == nullptr ? EINVAL : set_policy(*t, t->policy, how->sched_priority);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int sched_getparam(pid_t number, sched_param* how) noexcept {
    thread const* const t = own_by_number(number);
    if (t == nullptr || how == nullptr) return TULLE_LIBC(sched_getparam)(number, how);
    how->sched_priority = t->priority;
    return 0;
}

// Whose turn has no end is told of none (0); what the kernel says of other policies is true of a
// worker, too. It does not say what a turn of SCHED_RR is, but it is always that by default.
TULLE_INTERPOSE int sched_rr_get_interval(pid_t number, timespec* turn) noexcept {
    constexpr long k_turn_ns = 100'000'000;
    thread const* const t = own_by_number(number);
    if (t == nullptr || turn == nullptr || !is_real_time(t->policy))
        return TULLE_LIBC(sched_rr_get_interval)(number, turn);
    *turn = {0, own_policy(t->policy) == SCHED_RR ? k_turn_ns : 0};
    return 0;
}

TULLE_INTERPOSE int setpriority(__priority_which_t which, id_t who, int value) noexcept {
    thread* const t = which == PRIO_PROCESS ? own_by_number(static_cast<long>(who)) : nullptr;
    if (t == nullptr) return after_change(TULLE_LIBC(setpriority)(which, who, value));
    int const error = set_nice(*t, value);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int getpriority(__priority_which_t which, id_t who) noexcept {
    thread const* const t = which == PRIO_PROCESS ? own_by_number(static_cast<long>(who)) : nullptr;
    return t == nullptr ? TULLE_LIBC(getpriority)(which, who) : t->nice;
}

TULLE_INTERPOSE int nice(int more) noexcept {
    thread* const t = own_by_number(0);
    if (t == nullptr) return after_change(TULLE_LIBC(nice)(more));
    constexpr int k_all = k_most_nice - k_least_nice;
    if (set_nice(*t, t->nice + std::clamp(more, -k_all, k_all)) != 0) return fail(EPERM);
    return t->nice;
}
