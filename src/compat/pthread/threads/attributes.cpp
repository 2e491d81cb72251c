// SPDX-License-Identifier: Apache-2.0
// What a thread is asked for and told about itself: attributes, and processors, which are answered
// and have no effect, as workers run all threads alike.
#include "base/spin_lock.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/readable.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/scheduling.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/clock.hpp"
#include "sched/timed.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

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

asked_for read(pthread_attr_t const& how) noexcept {
    asked_for asked;
    pthread_attr_getstacksize(&how, &asked.stack_size);
    pthread_attr_getguardsize(&how, &asked.guard_size);
    int detached = PTHREAD_CREATE_JOINABLE, inherits = PTHREAD_INHERIT_SCHED;
    pthread_attr_getdetachstate(&how, &detached);
    pthread_attr_getinheritsched(&how, &inherits);
    asked.is_detached = detached == PTHREAD_CREATE_DETACHED;
    asked.inherits_scheduling = inherits == PTHREAD_INHERIT_SCHED;
    return asked;
}

// Nothing: there is no memory.
std::optional<asked_for> read_defaults() noexcept {
    pthread_attr_t defaults;
    if (pthread_getattr_default_np(&defaults) != 0) return std::nullopt;
    asked_for const asked = read(defaults);
    pthread_attr_destroy(&defaults);
    return asked;
}

// The C library copies its default attributes under a lock, which takes a tenth of the life of a
// short thread. So what they say is kept until pthread_setattr_default_np has changed them. Who
// makes a thread while another one changes them may see some of both.
class default_attributes {
public:
    void get(asked_for& asked) noexcept {
        // acquire: pairs with keep.
        if (TULLE_UNLIKELY(m_known.load(std::memory_order_acquire) !=
                           m_changes.load(std::memory_order_relaxed))) { // relaxed: a hint
            asked = look();
            return;
        }
        // relaxed, all: m_known.
        asked.stack_size = m_stack_size.load(std::memory_order_relaxed);
        asked.guard_size = m_guard_size.load(std::memory_order_relaxed);
        asked.is_detached = m_is_detached.load(std::memory_order_relaxed);
        asked.inherits_scheduling = m_inherits_scheduling.load(std::memory_order_relaxed);
    }
    // release: pairs with look.
    void note_change() noexcept { m_changes.fetch_add(1, std::memory_order_release); }

private:
    // In a forked child the lock may be held for ever; then they are asked for each time. acquire:
    // what is asked for is not older than the count.
    asked_for look() noexcept {
        std::unique_lock const held(m_lock, std::try_to_lock);
        unsigned const changes = m_changes.load(std::memory_order_acquire);
        std::optional<asked_for> const asked = read_defaults();
        if (asked && held.owns_lock()) keep(*asked, changes);
        return asked.value_or(asked_for{});
    }
    // relaxed, all: m_known.
    void keep(asked_for const& asked, unsigned changes) noexcept {
        m_stack_size.store(asked.stack_size, std::memory_order_relaxed);
        m_guard_size.store(asked.guard_size, std::memory_order_relaxed);
        m_is_detached.store(asked.is_detached, std::memory_order_relaxed);
        m_inherits_scheduling.store(asked.inherits_scheduling, std::memory_order_relaxed);
        m_known.store(changes, std::memory_order_release); // pairs with get
    }

    base::spin_lock m_lock; // who keeps them
    std::atomic<unsigned> m_changes{1};
    std::atomic<unsigned> m_known{0}; // how many changes what is kept has seen
    std::atomic<std::size_t> m_stack_size{0}, m_guard_size{0};
    std::atomic<bool> m_is_detached{false}, m_inherits_scheduling{true};
};
constinit default_attributes s_defaults;

} // namespace

// Into its place at once: what is stored in parts and then copied as a whole has to be waited for.
void ask(pthread_attr_t const* attributes, asked_for& asked) noexcept {
    if (attributes != nullptr)
        asked = read(*attributes);
    else
        s_defaults.get(asked);
}

namespace {

// 0, or an errno. The kernel has it so: of those that it names there must be one that the machine
// has.
int check_processors(std::size_t bytes, cpu_set_t const* set) noexcept {
    auto const known = static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
    auto const* const named = reinterpret_cast<unsigned char const*>(set);
    if (!is_readable(set, std::min(bytes, (known + 7) / 8))) return EFAULT;
    for (std::size_t k = 0; k != std::min(known, 8 * bytes); ++k)
        if ((named[k / 8] >> k % 8 & 1U) != 0) return 0;
    return EINVAL;
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

int describe(thread const& t, pthread_attr_t* how) noexcept {
    if (int const error = pthread_attr_init(how)) return error;
    std::uint32_t const life = t.life.load(std::memory_order_relaxed); // relaxed: a snapshot
    pthread_attr_setdetachstate(how, (life & k_detached) != 0 ? PTHREAD_CREATE_DETACHED
                                                              : PTHREAD_CREATE_JOINABLE);
    pthread_attr_setguardsize(how, t.asked.guard_size);
    describe_processors(how);
    void* const end = wait_for_stack(t);
    if (end == nullptr) return pthread_attr_setstacksize(how, t.asked.stack_size);
    // Aligned as the C library has it. There is more, and the guard is below that.
    std::size_t const size = t.asked.stack_size & ~std::size_t{63};
    return pthread_attr_setstack(how, static_cast<std::byte*>(end) - size, size);
}

} // namespace

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_getattr_np(pthread_t id, pthread_attr_t* how) noexcept {
    thread* const t = thread_of(id);
    return t == nullptr ? TULLE_LIBC(pthread_getattr_np)(id, how) : describe(*t, how);
}

TULLE_INTERPOSE int pthread_setattr_default_np(pthread_attr_t const* how) noexcept {
    int const error = TULLE_LIBC(pthread_setattr_default_np)(how);
    s_defaults.note_change();
    return error;
}

TULLE_INTERPOSE int pthread_setaffinity_np(pthread_t id, size_t size,
                                           cpu_set_t const* cpus) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_setaffinity_np)(id, size, cpus);
    if (is_gone(*t)) return ESRCH;
    return check_processors(size, cpus);
}

TULLE_INTERPOSE int pthread_getaffinity_np(pthread_t id, size_t size, cpu_set_t* cpus) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getaffinity_np)(id, size, cpus);
    if (is_gone(*t)) return ESRCH;
    return sched_getaffinity(getpid(), size, cpus) == 0 ? 0 : errno;
}

TULLE_INTERPOSE int sched_setaffinity(pid_t number, size_t size, cpu_set_t const* cpus) noexcept {
    if (own_by_number(number) == nullptr) return TULLE_LIBC(sched_setaffinity)(number, size, cpus);
    int const error = check_processors(size, cpus);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int sched_getaffinity(pid_t number, size_t size, cpu_set_t* cpus) noexcept {
    pid_t const whose = own_by_number(number) != nullptr ? getpid() : number;
    return TULLE_LIBC(sched_getaffinity)(whose, size, cpus);
}
