// SPDX-License-Identifier: Apache-2.0
// What a thread is asked for and told about itself: attributes, names, and scheduling, which is
// answered and has no effect, as workers run all threads alike.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/timed.hpp"
#include "stack/size_class.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tulle::posix {

namespace {

// Where none were set the C library names all there can be.
bool has_processors(pthread_attr_t const& attributes) noexcept {
    cpu_set_t all;
    cpu_set_t chosen;
    std::memset(&all, 0xff, sizeof all);
    return pthread_attr_getaffinity_np(&attributes, sizeof chosen, &chosen) == 0 &&
           !CPU_EQUAL(&chosen, &all);
}

// What attributes have that say nothing of guards: a page, or what the C library takes for enough
// on this architecture. Stacks of the run time are guarded by a page at least.
std::size_t usual_guard() noexcept {
    static constinit std::atomic<std::size_t> s_known{0}; // relaxed, both: it is always the same
    std::size_t bytes = s_known.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(bytes != 0)) return bytes;
    bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    pthread_attr_t fresh;
    std::size_t of_fresh = 0;
    if (pthread_attr_init(&fresh) == 0) {
        pthread_attr_getguardsize(&fresh, &of_fresh);
        pthread_attr_destroy(&fresh);
    }
    bytes = std::max(bytes, of_fresh);
    s_known.store(bytes, std::memory_order_relaxed);
    return bytes;
}

} // namespace

// A stack of the program's own, a larger guard, a scheduling policy or processors for this one
// thread.
std::optional<diag::os_thread_reason> needs_os_thread(pthread_attr_t const* attributes) noexcept {
    using reason = diag::os_thread_reason;
    if (attributes == nullptr) return std::nullopt;
    void* stack = nullptr;
    std::size_t size = 0;
    int inherits = PTHREAD_INHERIT_SCHED, policy = SCHED_OTHER;
    pthread_attr_getstack(attributes, &stack, &size);
    pthread_attr_getinheritsched(attributes, &inherits);
    pthread_attr_getschedpolicy(attributes, &policy);
    // The C library gives the end of a stack that was not set as 0, and so its begin as -size.
    bool const has_stack = reinterpret_cast<std::uintptr_t>(stack) + size != 0;
    if (has_stack) return reason::own_stack;
    std::size_t guard = 0;
    pthread_attr_getguardsize(attributes, &guard);
    if (guard > usual_guard()) return reason::wide_guard;
    if (has_processors(*attributes)) return reason::processors;
    if (inherits == PTHREAD_EXPLICIT_SCHED && policy != SCHED_OTHER) return reason::policy;
    return std::nullopt;
}

namespace {

bool is_gone(thread const& t) noexcept {
    return !t.is_used.load(std::memory_order_relaxed); // relaxed: see thread_blocks::give
}

// It may not have been joined yet. relaxed: who asks while it ends has a race of its own.
bool has_ended(thread const& t) noexcept {
    return is_gone(t) || (t.life.load(std::memory_order_relaxed) & k_ended) != 0;
}

// Of a thread's name, which the C library looks up among files; 0: it has one.
int why_nameless(thread const& t) noexcept {
    return is_gone(t) ? ESRCH : has_ended(t) ? ENOENT : 0;
}

// The name of an OS thread is the kernel's; who makes many threads asks for it once. By whatever
// thread it is changed by pthread_setname_np, this counts it. relaxed, all: a change that another
// thread makes meanwhile may come later.
constinit std::atomic<unsigned> s_changes_of_names{1};
struct known_name {
    unsigned changes = 0; // when it was asked for; 0: it was not
    char text[sizeof(thread::name)] = {};
};
constinit thread_local known_name t_name;

char const* name_of_os_thread() noexcept {
    unsigned const changes = s_changes_of_names.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(t_name.changes == changes)) return t_name.text;
    if (TULLE_LIBC(pthread_getname_np)(pthread_self(), t_name.text, sizeof t_name.text) != 0)
        t_name.text[0] = '\0';
    t_name.changes = changes;
    return t_name.text;
}

// The kernel has it so: of those that it names there must be one that the machine has.
bool names_a_processor(std::size_t bytes, cpu_set_t const* set) noexcept {
    auto const known = static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
    for (std::size_t k = 0; k != std::min(known, 8 * bytes); ++k)
        if (CPU_ISSET_S(k, bytes, set)) return true;
    return false;
}

void describe_processors(pthread_attr_t* how) noexcept {
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
        pthread_attr_setaffinity_np(how, sizeof set, &set);
}

// Where the stack of a thread ends is known when it has begun, which it mostly does at once. Null:
// it does not for so long that the caller may be what keeps it from that. relaxed: an address.
void* wait_for_stack(thread const& t) noexcept {
    constexpr std::uint64_t k_longest_ns = 2'000'000'000, k_between_looks_ns = 100'000;
    void* end = t.stack_end.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(end != nullptr)) return end;
    std::uint64_t const deadline = os::monotonic_ns() + k_longest_ns;
    while ((end = t.stack_end.load(std::memory_order_relaxed)) == nullptr) {
        std::uint64_t const now = os::monotonic_ns();
        if (now >= deadline) return nullptr;
        sched::sleep_until_ns(now + k_between_looks_ns);
    }
    return end;
}

// A stack as large as those of its class has its guard within, which is not told of, unless so
// small a stack cannot be told of.
int describe_stack(pthread_attr_t* how, std::byte* end, std::size_t size) noexcept {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t const usable = std::min(size, stack::class_for(size).bytes() - page);
    int const error = pthread_attr_setstack(how, end - usable, usable);
    return error == 0 ? 0 : pthread_attr_setstack(how, end - size, size);
}

int describe(thread const& t, pthread_attr_t* how) noexcept {
    if (int const error = pthread_attr_init(how)) return error;
    std::uint32_t const life = t.life.load(std::memory_order_relaxed); // relaxed: a snapshot
    pthread_attr_setdetachstate(how, (life & k_detached) != 0 ? PTHREAD_CREATE_DETACHED
                                                              : PTHREAD_CREATE_JOINABLE);
    pthread_attr_setguardsize(how, t.guard_size);
    describe_processors(how);
    void* const end = wait_for_stack(t);
    if (end == nullptr) return pthread_attr_setstacksize(how, t.stack_size);
    return describe_stack(how, static_cast<std::byte*>(end), t.stack_size);
}

} // namespace

void inherit_name(thread& t) noexcept {
    thread const* const by = self();
    std::memcpy(t.name, by != nullptr ? by->name : name_of_os_thread(), sizeof t.name);
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_getattr_np(pthread_t id, pthread_attr_t* how) noexcept {
    thread* const t = thread_of(id);
    return t == nullptr ? TULLE_LIBC(pthread_getattr_np)(id, how) : describe(*t, how);
}

TULLE_INTERPOSE int pthread_setname_np(pthread_t id, char const* name) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) {
        int const error = TULLE_LIBC(pthread_setname_np)(id, name);
        s_changes_of_names.fetch_add(1, std::memory_order_relaxed);
        return error;
    }
    if (std::strlen(name) >= sizeof t->name) return ERANGE;
    if (int const error = why_nameless(*t)) return error;
    std::strcpy(t->name, name);
    return 0;
}

TULLE_INTERPOSE int pthread_getname_np(pthread_t id, char* name, size_t size) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getname_np)(id, name, size);
    if (size < sizeof t->name) return ERANGE;
    if (int const error = why_nameless(*t)) return error;
    std::memcpy(name, t->name, sizeof t->name);
    return 0;
}

TULLE_INTERPOSE int pthread_setaffinity_np(pthread_t id, size_t size,
                                           cpu_set_t const* cpus) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_setaffinity_np)(id, size, cpus);
    if (is_gone(*t)) return ESRCH;
    return names_a_processor(size, cpus) ? 0 : EINVAL;
}

TULLE_INTERPOSE int pthread_getaffinity_np(pthread_t id, size_t size, cpu_set_t* cpus) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getaffinity_np)(id, size, cpus);
    if (is_gone(*t)) return ESRCH;
    return sched_getaffinity(getpid(), size, cpus) == 0 ? 0 : errno;
}

namespace {

// That `number` means the caller, a thread that stands on a worker: what is said of the worker
// would hold for whatever runs there later.
bool is_own_on_worker(pid_t number) noexcept {
    if (self() == nullptr || is_on_own_os_thread()) return false;
    return number == 0 || number == tulle::os::thread_id();
}

} // namespace

TULLE_INTERPOSE int sched_setaffinity(pid_t number, size_t size, cpu_set_t const* cpus) noexcept {
    if (!is_own_on_worker(number)) return TULLE_LIBC(sched_setaffinity)(number, size, cpus);
    return names_a_processor(size, cpus) ? 0 : fail(EINVAL);
}

TULLE_INTERPOSE int sched_getaffinity(pid_t number, size_t size, cpu_set_t* cpus) noexcept {
    pid_t const whose = is_own_on_worker(number) ? getpid() : number;
    return TULLE_LIBC(sched_getaffinity)(whose, size, cpus);
}

TULLE_INTERPOSE int pthread_setschedparam(pthread_t id, int policy,
                                          sched_param const* how) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_setschedparam)(id, policy, how);
    if (has_ended(*t)) return ESRCH;
    int const least = sched_get_priority_min(policy), most = sched_get_priority_max(policy);
    if (least < 0 || how->sched_priority < least || how->sched_priority > most) return EINVAL;
    t->policy = policy;
    t->priority = how->sched_priority;
    return 0;
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
    if (t == nullptr) return TULLE_LIBC(pthread_setschedprio)(id, priority);
    sched_param const how{priority};
    return pthread_setschedparam(id, t->policy, &how);
}

// The processor time of the process stands for the thread's, which nobody measures.
TULLE_INTERPOSE int pthread_getcpuclockid(pthread_t id, clockid_t* clock) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getcpuclockid)(id, clock);
    if (has_ended(*t)) return ESRCH;
    *clock = CLOCK_PROCESS_CPUTIME_ID;
    return 0;
}

// What the system counts is the worker's: a thread that goes over to another one would find that
// its time has gone back.
TULLE_INTERPOSE int clock_gettime(clockid_t clock, timespec* time) noexcept {
    bool const is_own = clock == CLOCK_THREAD_CPUTIME_ID && self() != nullptr;
    return TULLE_LIBC(clock_gettime)(is_own ? CLOCK_PROCESS_CPUTIME_ID : clock, time);
}
TULLE_INTERPOSE int getrusage(__rusage_who_t whose, rusage* usage) noexcept {
    bool const is_own = whose == RUSAGE_THREAD && self() != nullptr;
    return TULLE_LIBC(getrusage)(is_own ? RUSAGE_SELF : whose, usage);
}
