// SPDX-License-Identifier: Apache-2.0
// Policies, priorities and nice values of threads, which are answered and have no effect, as
// workers run all threads alike: what was told to the kernel would hold for whatever runs on that
// worker later. Main, and other OS threads, have those of the kernel, and so has a forked child.
#include "compat/pthread/threads/scheduling.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/readable.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::posix {

namespace {

constexpr int k_least_nice = -20, k_most_nice = 19;
constexpr int k_one_thread = 1; // IOPRIO_WHO_PROCESS

// Calls of the kernel by numbers, not the program's functions: these are made of the kernel's.
int kernels_nice() noexcept {
    long const told = TULLE_LIBC(syscall)(static_cast<long>(SYS_getpriority), PRIO_PROCESS, 0);
    return told < 0 ? 0 : 20 - static_cast<int>(told);
}
// Whether an OS thread has set its priority of input and output. Otherwise workers have inherited
// it: a program that refuses itself what it does not need is not to be ended for a question.
// relaxed, all: see below.
constinit std::atomic<bool> s_sets_io_priority{false};
// Negative: it is not asked, or tells none.
int kernels_io_priority() noexcept {
    if (!s_sets_io_priority.load(std::memory_order_relaxed)) return -1;
    return static_cast<int>(
        TULLE_LIBC(syscall)(static_cast<long>(SYS_ioprio_get), k_one_thread, 0));
}

// What an OS thread has, which makes a thread; it is asked for again after a change by any thread
// of the process. relaxed, all: a change that another thread makes meanwhile may come later.
constinit std::atomic<unsigned> s_changes{1};
struct known_scheduling {
    unsigned changes = 0; // when it was asked for; 0: it was not
    int policy = 0, priority = 0, nice = 0, io_priority = -1;
};
constinit thread_local known_scheduling t_known;

known_scheduling const& of_os_thread() noexcept {
    unsigned const changes = s_changes.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(t_known.changes == changes)) return t_known;
    kept_errno const kept;
    sched_param how{};
    t_known.policy = std::max(TULLE_LIBC(sched_getscheduler)(0), 0);
    if (TULLE_LIBC(sched_getparam)(0, &how) == 0) t_known.priority = how.sched_priority;
    t_known.nice = kernels_nice();
    t_known.io_priority = kernels_io_priority();
    t_known.changes = changes;
    return t_known;
}
template <class Result> Result after_change(Result result) noexcept {
    s_changes.fetch_add(1, std::memory_order_relaxed);
    return result;
}

// --- who may do so -------------------------------------------------------------------------------

// Whoever has made a name space of users has all capabilities in it, but the kernel asks here for
// those of the first one. Where that cannot be told, it is taken for that.
bool is_in_first_user_space() noexcept {
    constexpr ino_t k_number_of_first = 0xeffffffd;
    struct stat about {};
    return stat("/proc/self/ns/user", &about) != 0 || about.st_ino == k_number_of_first;
}

bool has_capability(unsigned which) noexcept {
    kept_errno const kept;
    __user_cap_header_struct of{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {};
    return TULLE_LIBC(syscall)(static_cast<long>(SYS_capget), &of, has) == 0 &&
           (has[which / 32].effective >> which % 32 & 1U) != 0 && is_in_first_user_space();
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

constexpr int k_with_deadlines = 6; // a policy that takes more than a priority

// 0, or an errno.
int check_policy(thread const& t, int policy, int priority) noexcept {
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
    return is_unmarked && !has_capability(CAP_SYS_NICE) ? EPERM : 0;
}
int set_policy(thread& t, int policy, int priority) noexcept {
    int const error = check_policy(t, policy, priority);
    if (error == 0) t.policy = policy;
    if (error == 0) t.priority = priority;
    return error;
}

// As the program says it. It is not compared with null: of pthread_setschedparam the C library's
// header says that it is not, so that compilers leave that out.
int set_policy_by(thread& t, int policy, sched_param const* how) noexcept {
    constexpr std::uintptr_t k_first_page = 4096;
    if (policy < 0 || reinterpret_cast<std::uintptr_t>(how) < k_first_page) return EINVAL;
    return is_readable(how, sizeof *how) ? set_policy(t, policy, how->sched_priority) : EFAULT;
}

int set_nice(thread& t, int value) noexcept {
    int const wanted = std::clamp(value, k_least_nice, k_most_nice);
    if (wanted < t.nice && !may_raise(RLIMIT_NICE, 20 - wanted)) return EACCES;
    t.nice = wanted;
    return 0;
}

// --- all in one structure: sched_setattr(2) ------------------------------------------------------

struct attributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
    std::uint32_t least_utilization, most_utilization;
};
constexpr std::uint32_t k_first_size = 48, k_largest_size = 4096; // of the structure, ever
constexpr std::uint64_t k_reset_on_fork = 1, k_keep_policy = 8, k_keep_params = 16,
                        k_utilization = 32 | 64, k_all_flags = 127;

// 0, or an errno. What is longer than what is known is to be zero there.
int copy_attributes(void const* from, attributes& to) noexcept {
    if (!is_readable(from, sizeof to.size)) return EFAULT;
    std::memcpy(&to.size, from, sizeof to.size);
    std::uint32_t const size = to.size == 0 ? k_first_size : to.size;
    if (size < k_first_size || size > k_largest_size) return E2BIG;
    if (!is_readable(from, size)) return EFAULT;
    std::memcpy(&to, from, std::min<std::size_t>(size, sizeof to));
    to.size = size;
    auto const* const bytes = static_cast<unsigned char const*>(from);
    bool const has_more = size > sizeof to && std::any_of(bytes + sizeof to, bytes + size,
                                                          [](unsigned char b) { return b != 0; });
    return has_more ? E2BIG : 0;
}

int set_attributes(thread& t, attributes const& a) noexcept {
    int const mark = (a.flags & k_reset_on_fork) != 0 ? SCHED_RESET_ON_FORK : 0;
    int policy = static_cast<int>(a.policy);
    if (policy < 0) return EINVAL;
    if ((a.flags & k_keep_policy) != 0)
        policy = t.policy;
    else if ((policy & SCHED_RESET_ON_FORK) != 0)
        return EINVAL;
    else
        policy |= mark;
    if ((a.flags & ~k_all_flags) != 0) return EINVAL;
    if (own_policy(policy) == k_with_deadlines) return EPERM; // as without the right to it
    if ((a.flags & k_utilization) != 0) return EOPNOTSUPP;    // as a kernel without that
    bool const keeps = (a.flags & k_keep_params) != 0;
    int const priority = keeps ? t.priority : static_cast<int>(a.priority);
    int const nice = keeps ? t.nice : std::clamp(a.nice, k_least_nice, k_most_nice);
    if (int const error = check_policy(t, policy, priority)) return error;
    bool const is_nice = own_policy(policy) == SCHED_OTHER || own_policy(policy) == SCHED_BATCH;
    if (is_nice && nice < t.nice && !may_raise(RLIMIT_NICE, 20 - nice)) return EPERM;
    // The kernel, too, keeps the policy with its parameters.
    t.policy = keeps ? own_policy(t.policy) | (policy & SCHED_RESET_ON_FORK) : policy;
    t.priority = priority;
    if (is_nice) t.nice = nice;
    return 0;
}

// --- priorities of input and output --------------------------------------------------------------

// ioprio_set(2): 16 bits, of which the upper three are the class and the lower three the level.
// Between them are hints, and of bits above them nothing is kept.
int check_io_priority(int value) noexcept {
    constexpr int k_none = 0, k_real_time = 1, k_idle = 3, k_levels = 8;
    int const level = value & (k_levels - 1), class_of = value >> 13 & 7;
    if (class_of > k_idle || (class_of == k_none && level != 0)) return EINVAL;
    bool const is_for_few = class_of == k_real_time;
    return !is_for_few || has_capability(CAP_SYS_ADMIN) || has_capability(CAP_SYS_NICE) ? 0 : EPERM;
}

} // namespace

// Null: another one is meant, or the caller has an OS thread of its own.
namespace {

// relaxed: a number that has been told is there.
bool is_of_worker(long number) noexcept {
    for (auto const& s : sched::scheduler::instance().shepherds())
        for (sched::worker_remote const* const w : s->workers)
            if (w->tid.load(std::memory_order_relaxed) == number) return true;
    return false;
}

} // namespace

// A thread that has asked for its number may stand on another worker by now.
thread* own_by_number(long number) noexcept {
    thread* const t = thread_on_worker();
    return t != nullptr && (number == 0 || is_of_worker(number)) ? t : nullptr;
}

long change_io_priority(long which, long who, long value) noexcept {
    thread* const t = which == k_one_thread ? own_by_number(who) : nullptr;
    if (t == nullptr) {
        s_sets_io_priority.store(true, std::memory_order_relaxed);
        return after_change(
            TULLE_LIBC(syscall)(static_cast<long>(SYS_ioprio_set), which, who, value));
    }
    if (int const error = check_io_priority(static_cast<int>(value))) return fail(error);
    t->io_priority = static_cast<int>(value) & 0xffff;
    return 0;
}
std::optional<long> tell_io_priority(long which, long who) noexcept {
    thread const* const t = which == k_one_thread ? own_by_number(who) : nullptr;
    if (t == nullptr || t->io_priority < 0) return std::nullopt;
    return t->io_priority;
}

long change_attributes(long who, void* how, long flags) noexcept {
    long const number = SYS_sched_setattr;
    thread* const t = how != nullptr && flags == 0 ? own_by_number(who) : nullptr;
    if (t == nullptr) return after_change(TULLE_LIBC(syscall)(number, who, how, flags));
    attributes wanted{};
    int const error = copy_attributes(how, wanted);
    // The kernel says how much it knows.
    if (error == E2BIG) return TULLE_LIBC(syscall)(number, who, how, flags);
    if (error != 0) return fail(error);
    int const refused = set_attributes(*t, wanted);
    return refused == 0 ? 0 : fail(refused);
}
// The kernel checks what it is asked for, and tells the rest as it is of main.
long tell_attributes(long who, void* how, long size, long flags) noexcept {
    thread const* const t = own_by_number(who);
    long const told = TULLE_LIBC(syscall)(static_cast<long>(SYS_sched_getattr),
                                          t != nullptr ? getpid() : who, how, size, flags);
    if (t == nullptr || told != 0) return told;
    auto& known = *static_cast<attributes*>(how);
    bool const has_priority = is_real_time(t->policy);
    known.policy = static_cast<std::uint32_t>(own_policy(t->policy));
    known.flags = (t->policy & SCHED_RESET_ON_FORK) != 0 ? k_reset_on_fork : 0;
    known.nice = has_priority ? 0 : t->nice;
    known.priority = has_priority ? static_cast<std::uint32_t>(t->priority) : 0;
    return 0;
}

namespace {

// In a forked child: the thread that has called fork, which has its OS thread for itself, so that
// the kernel knows its scheduling, by the number of the process. relaxed, all: it changes where
// there is one thread.
constinit std::atomic<thread const*> s_main_of_child{nullptr};

bool is_main_of_child(thread const& t) noexcept {
    return &t == s_main_of_child.load(std::memory_order_relaxed);
}

// As the kernel does for what a thread with SCHED_RESET_ON_FORK makes, threads and processes.
void reset_if_asked(thread& t) noexcept {
    if ((t.policy & SCHED_RESET_ON_FORK) == 0) return;
    bool const was_real_time = is_real_time(t.policy);
    t.policy = was_real_time ? SCHED_OTHER : own_policy(t.policy);
    t.priority = 0;
    t.nice = was_real_time ? 0 : std::max(t.nice, 0);
}

} // namespace

void inherit_scheduling(thread& t, thread const* by, bool inherits_policy) noexcept {
    if (is_main_of_child(t)) // another one had its memory, and is gone
        s_main_of_child.store(nullptr, std::memory_order_relaxed);
    if (by != nullptr && !is_main_of_child(*by)) {
        t.policy = by->policy;
        t.priority = by->priority;
        t.nice = by->nice;
        t.io_priority = by->io_priority;
    } else {
        known_scheduling const& its = of_os_thread();
        t.policy = its.policy;
        t.priority = its.priority;
        t.nice = its.nice;
        t.io_priority = its.io_priority;
    }
    reset_if_asked(t);
    if (!inherits_policy) t.policy = t.priority = 0; // SCHED_OTHER: others are for OS threads
}

// Its OS thread has what the worker had which has forked.
void begin_scheduling_of_child(thread& t) noexcept {
    kept_errno const kept;
    after_change(0);
    if (is_main_of_child(t)) return; // which has forked again: the kernel has seen to it
    s_main_of_child.store(&t, std::memory_order_relaxed);
    reset_if_asked(t);
    known_scheduling const& its = of_os_thread();
    sched_param const how{t.priority};
    if (its.nice != t.nice) TULLE_LIBC(setpriority)(PRIO_PROCESS, 0, t.nice);
    if (its.policy != t.policy || its.priority != t.priority)
        TULLE_LIBC(sched_setscheduler)(0, t.policy, &how);
    if (t.io_priority >= 0 && its.io_priority != t.io_priority)
        static_cast<void>(change_io_priority(k_one_thread, 0, t.io_priority));
    after_change(0);
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_setschedparam(pthread_t id, int policy,
                                          sched_param const* how) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return after_change(TULLE_LIBC(pthread_setschedparam)(id, policy, how));
    if (has_ended(*t)) return ESRCH;
    if (!is_main_of_child(*t)) return set_policy_by(*t, policy, how);
    kept_errno const kept;
    return after_change(TULLE_LIBC(sched_setscheduler)(getpid(), policy, how)) == 0 ? 0 : errno;
}

TULLE_INTERPOSE int pthread_getschedparam(pthread_t id, int* policy, sched_param* how) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getschedparam)(id, policy, how);
    if (has_ended(*t)) return ESRCH;
    if (is_main_of_child(*t)) {
        kept_errno const kept;
        *policy = TULLE_LIBC(sched_getscheduler)(getpid());
        return *policy >= 0 && TULLE_LIBC(sched_getparam)(getpid(), how) == 0 ? 0 : errno;
    }
    *policy = t->policy;
    how->sched_priority = t->priority;
    return 0;
}

TULLE_INTERPOSE int pthread_setschedprio(pthread_t id, int priority) noexcept {
    if (thread_of(id) == nullptr)
        return after_change(TULLE_LIBC(pthread_setschedprio)(id, priority));
    int policy = 0;
    sched_param how{};
    if (int const error = pthread_getschedparam(id, &policy, &how)) return error;
    how.sched_priority = priority;
    return pthread_setschedparam(id, policy, &how);
}

TULLE_INTERPOSE int sched_setscheduler(pid_t number, int policy, sched_param const* how) noexcept {
    thread* const t = own_by_number(number);
    if (t == nullptr) return after_change(TULLE_LIBC(sched_setscheduler)(number, policy, how));
    int const error = set_policy_by(*t, policy, how);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int sched_getscheduler(pid_t number) noexcept {
    thread const* const t = own_by_number(number);
    return t == nullptr ? TULLE_LIBC(sched_getscheduler)(number) : t->policy;
}

TULLE_INTERPOSE int sched_setparam(pid_t number, sched_param const* how) noexcept {
    thread* const t = own_by_number(number);
    if (t == nullptr) return after_change(TULLE_LIBC(sched_setparam)(number, how));
    int const error = set_policy_by(*t, t->policy, how);
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

// Functions of newer C libraries (2.41), not by their names, as older headers have none.
extern "C" TULLE_API int tulle_sched_setattr(pid_t number, void* how, unsigned flags) noexcept
    asm("sched_setattr");
extern "C" TULLE_API int tulle_sched_setattr(pid_t number, void* how, unsigned flags) noexcept {
    return static_cast<int>(change_attributes(number, how, flags));
}
extern "C" TULLE_API int tulle_sched_getattr(pid_t number, void* how, unsigned size,
                                             unsigned flags) noexcept asm("sched_getattr");
extern "C" TULLE_API int tulle_sched_getattr(pid_t number, void* how, unsigned size,
                                             unsigned flags) noexcept {
    return static_cast<int>(tell_attributes(number, how, size, flags));
}
