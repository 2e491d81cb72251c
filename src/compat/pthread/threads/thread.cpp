// SPDX-License-Identifier: Apache-2.0
// Threads are made, joined and detached.
#include "compat/pthread/threads/thread.hpp"

#include "base/error.hpp"
#include "base/foreign_sanitizer.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/kernel_lock.hpp"
#include "compat/pthread/locks/robust_mutex.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/living.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "compat/pthread/threads/scheduling.hpp"
#include "compat/pthread/threads/start_library.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "diag/answer.hpp"
#include "os/clock.hpp"
#include "os/memory.hpp"
#include "os/private_descriptor.hpp"
#include "runtime/runtime.hpp"
#include "sched/scheduler.hpp"
#include "stack/size_class.hpp"

#include <tulle/runtime.hpp>
#include <tulle/thread.hpp>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <resolv.h>
#include <sys/syscall.h>

namespace tulle::posix {

namespace {

enum class run_time_state : int { not_started, starting, started, not_here };

std::atomic<run_time_state> s_state{run_time_state::not_started};

// What the C library does at the end of a thread, and where its resolver's pointer and that to what
// dlerror tells lie, from the thread pointer. Found before there are threads: in a child that is
// forked while another thread begins with a static variable, that never ends.
struct parts_of_libc {
    std::ptrdiff_t resolver = 0;
    void (*call_tls_destructors)() = nullptr; // null: a library that is linked statically
    void (*free_own)() = nullptr;             // null: one that is linked dynamically
    char* (*last_error)() = nullptr;          // dlerror; null: not needed, or `error` is not known
    std::ptrdiff_t error = 0;

    void find() noexcept {
        resolver = reinterpret_cast<std::ptrdiff_t>(find_symbol("__resp")) -
                   reinterpret_cast<std::ptrdiff_t>(arch::thread_pointer());
        call_tls_destructors = reinterpret_cast<void (*)()>(find_symbol("__call_tls_dtors"));
        free_own = reinterpret_cast<void (*)()>(find_symbol("__libc_thread_freeres"));
        void* const found = find_symbol("__libc_dlerror_result");
        if (found == nullptr) return;
        error = reinterpret_cast<std::ptrdiff_t>(found) -
                reinterpret_cast<std::ptrdiff_t>(arch::thread_pointer());
        last_error = reinterpret_cast<char* (*)()>(find_symbol("dlerror"));
    }
};
constinit parts_of_libc s_parts;

bool s_is_loaded = false;   // see prepare_calls
bool s_is_prepared = false; // there may be threads of ours

// Of others to `t`, the caller of fork: nothing is pending in a child, and one of them may have
// been about to end its waits. That it has been cancelled stays.
void forget_requests(thread& t) noexcept {
    // relaxed, all: there is one thread.
    t.pending.store(0, std::memory_order_relaxed);
    t.lent.store(0, std::memory_order_relaxed);
    t.unblocked_on.store(0, std::memory_order_relaxed);
    ::new (static_cast<void*>(&t.attention)) detail::cancellation(nullptr);
    if (t.is_cancelled.load(std::memory_order_relaxed)) static_cast<void>(t.attention.request());
}

// In a child process only the caller is left, and the run time starts anew if it makes a thread.
void after_fork_in_child() noexcept {
    forking::enter_child();
    living::forget_others();
    if (!s_is_prepared) return;
    forget_futex_waiters();
    thread* const t = self();
    thread_blocks::forget_others(t);
    if (s_state.load(std::memory_order_relaxed) != run_time_state::not_here) // relaxed: one thread
        s_state.store(run_time_state::not_started, std::memory_order_relaxed);
    forget_calls_once();
    forget_commands();
    forget_robust_mutexes();
    forget_changes_of_actions();
    forget_signals();
    os_attention::forget_others();
    place_in_kernel::forget_others();
    if (t == nullptr) return;
    forget_requests(*t);
    sigset_t const blocked = as_sigset(t->blocked.load(std::memory_order_relaxed)); // relaxed: own
    TULLE_LIBC(pthread_sigmask)(SIG_SETMASK, &blocked, nullptr);
    begin_scheduling_of_child(*t);
}

// The run time prepares for a fork by calls of its own (uncancelled.hpp).
constinit thread_local int t_cancels_before_fork = PTHREAD_CANCEL_ENABLE;

void begin_fork() noexcept {
    if (self() == nullptr)
        TULLE_LIBC(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &t_cancels_before_fork);
}

void end_fork() noexcept {
    forking::end();
    if (self() == nullptr) TULLE_LIBC(pthread_setcancelstate)(t_cancels_before_fork, nullptr);
}

// By main, and once: whatever the run time calls itself is known from now on, and the program's own
// handlers of forks will find locks and threads as they have left them. The dynamic linker calls
// this later than the constructors of libraries that the program is linked with. These may make
// threads, or have handlers of forks: then they call it.
__attribute__((constructor(101))) void prepare_calls() {
    if (s_is_loaded) return;
    s_is_loaded = true;
    find_all_in_libc();
    note_main();
    // Those that prepare run in the opposite order: forking begins last, and ends last. begin_fork
    // is the first of ours.
    pthread_atfork(&forking::begin, nullptr, &after_fork_in_child);
    pthread_atfork(&known_descriptors::note_sharing, &known_descriptors::note_sharing,
                   &known_descriptors::note_sharing);
    runtime::expect_process_forks();
    pthread_atfork(&begin_fork, &end_fork, &end_fork);
}

// A program that stands still by its own fault is told so, and stands still as it would anyway.
// Threads wait in the kernel in calls that nobody here makes, such as those of streams, and whoever
// ends their waits may be a thread that has no worker yet: each of them may take one, as natively.
// Stacks are as large as those of threads that ask for nothing else: these begin on the stack of a
// loop, and none has to be made for them, which takes as long as all else of a short thread.
void choose_options() {
    if (::secure_getenv("TULLE_DEADLOCK") == nullptr) set_option("deadlock", "warn");
    if (::secure_getenv("TULLE_MAX_SUBSTITUTES") == nullptr) set_option("max_substitutes", "2048");
    asked_for by_default;
    ask(nullptr, by_default);
    if (::secure_getenv("TULLE_STACK_SIZE") == nullptr && by_default.stack_size != 0 &&
        by_default.stack_size <= stack::k_largest_bytes)
        set_option("stack_size", std::to_string(by_default.stack_size));
}

// The program has its own copy of the run time, which would stand on this one's threads.
bool has_tulle_itself() noexcept {
    void* const found = find_symbol("tulle_read_current");
    return found != nullptr;
}

signal_set mask_of_caller() noexcept {
    if (thread const* const t = self())
        return t->blocked.load(std::memory_order_relaxed); // relaxed: the caller's own
    sigset_t of_os_thread;
    TULLE_LIBC(pthread_sigmask)(SIG_BLOCK, nullptr, &of_os_thread);
    return set_of(of_os_thread);
}

run_time_state start_run_time() noexcept try {
    prepare_calls();
    if (!s_is_prepared) {
        char const* const why = base::has_foreign_thread_sanitizer()
                                    ? "the program runs with ThreadSanitizer"
                                : has_tulle_itself() ? "the program uses Tulle itself"
                                                     : thread_blocks::prepare();
        if (why != nullptr) {
            base::warn("libtulle-preload: threads stay those of the C library: %s", why);
            return run_time_state::not_here;
        }
        choose_options();
        diag::leave_ignored();
        s_parts.find();
        s_is_prepared = true;
    }
    os::private_descriptor::lie_high();
    begin_signals(mask_of_caller() | mask_of_main());
    sched::scheduler::instance().set_worker_start(&begin_worker);
    runtime::start_result const started = runtime::the().start_alone();
    if (started.error != 0 && started.error != EALREADY) {
        base::warn("libtulle-preload: threads stay those of the C library: the run time cannot "
                   "start (%s)",
                   std::strerror(started.error));
        return run_time_state::not_here;
    }
    follow_changes_of_identity(); // the C library has its handler when it has made a thread
    return run_time_state::started;
} catch (std::exception const& refused) {
    base::warn("libtulle-preload: threads stay those of the C library: %s", refused.what());
    return run_time_state::not_here;
}

// False: threads stay those of the C library.
bool start_once() noexcept {
    for (;;) {
        run_time_state now = s_state.load(std::memory_order_acquire); // pairs with the release
        if (now == run_time_state::started) return true;
        if (now == run_time_state::not_here) return false;
        if (now == run_time_state::not_started &&
            s_state.compare_exchange_strong(now, run_time_state::starting,
                                            std::memory_order_acquire,
                                            std::memory_order_relaxed)) { // relaxed: read again
            run_time_state const then = start_run_time();
            s_state.store(then, std::memory_order_release);
            if (then == run_time_state::started && has_some_handler()) start_to_hand_out();
            living::begin_to_watch();
            continue;
        }
        TULLE_LIBC(sched_yield)();
    }
}

// Its C library's resolver keeps its state in memory of the thread.
void give_resolver(thread& t) noexcept {
    static_assert(sizeof(struct __res_state) <= sizeof t.resolver);
    auto* const pointer = static_cast<std::byte*>(t.block) + s_parts.resolver;
    *reinterpret_cast<void**>(pointer) = t.resolver;
}

void call_tls_destructors() noexcept {
    if (s_parts.call_tls_destructors != nullptr) s_parts.call_tls_destructors();
}

// A destructor may end the thread that is ending: its stack is unwound to here.
void call_destructors(void* of) {
    static_cast<thread*>(of)->is_ending = true;
    call_tls_destructors();
    destroy_values();
    // The destructor of a key may have been the first to use a variable. The C library would leave
    // that variable's destructor to nobody; in this block the next thread would run it.
    call_tls_destructors();
}

void call_start(void* of) {
    auto& t = *static_cast<thread*>(of);
    if (t.attention.is_requested() || signals_for(t) != 0) static_cast<void>(run_handlers(t));
    t.result = t.start(t.argument);
    if (has_arrived_signals(t)) static_cast<void>(run_handlers(t));
    call_destructors(of);
}

void call_handlers(void* of) { static_cast<void>(run_handlers(*static_cast<thread*>(of))); }

// Jumped to when the stack has been unwound: it has nothing to be destroyed.
TULLE_NOINLINE void run_to_end(thread& t, void (*call)(void*)) {
    jmp_buf at_end;
    t.at_end = at_end;
    if (_setjmp(at_end) == 0) tulle_outermost_call(call, &t);
}

// If a destructor has ended the thread, those that are left are called.
TULLE_NOINLINE void run_start(thread& t) {
    jmp_buf at_end;
    t.at_end = at_end;
    static_cast<void>(_setjmp(at_end));
    if (!t.leaves_all) tulle_outermost_call(t.is_ending ? &call_destructors : &call_start, &t);
    uselocale(LC_GLOBAL_LOCALE); // the block may be used again
}

// An error of dlopen and its kin that the thread has had. The first call may tell of it, and the
// second one frees it then. To look at the pointer takes a fraction of what a call takes.
void free_error(thread const& t) noexcept {
    if (s_parts.last_error == nullptr) return;
    auto const* const place = static_cast<std::byte const*>(t.block) + s_parts.error;
    if (TULLE_LIKELY(*reinterpret_cast<void* const*>(place) == nullptr)) return;
    if (s_parts.last_error() != nullptr) static_cast<void>(s_parts.last_error());
}

// What the C library has of its own in the block is kept for the next thread (thread_block.cpp),
// unless it is linked statically.
void free_own_of_libc(thread const& t) noexcept {
    if (s_parts.free_own != nullptr) s_parts.free_own();
    free_error(t);
}

// acq_rel: pairs with those of join and detach. What its life was before.
std::uint32_t note_end(thread& t) noexcept {
    return t.life.fetch_or(k_ended, std::memory_order_acq_rel);
}

// In a forked child the thread that has called fork is what main is elsewhere: it has no other
// variables than its own to go back to.
[[noreturn]] void end_as_main(thread& t) {
    thread_blocks::close(t);
    give_back_all(t);
    if ((note_end(t) & k_awaited) != 0) futex_wake(t.life, INT_MAX);
    living::exit_with_last();
}

// On a thread of Tulle. The last word is said without the thread's variables.
void run_thread(thread& t) {
    sched::fiber& stands_on = sched::this_fiber();
    t.stack_end.store(stands_on.stack.end(), std::memory_order_relaxed); // relaxed: an address
    t.stands_on.store(&stands_on, std::memory_order_relaxed); // relaxed: a hint (os_thread_of)
    if (arch::thread_pointer() != t.block) sched::take_variables(t.block); // else see begin_now
    begin_variables();
    give_resolver(t);
    errno = h_errno = 0;
    open_mask_of_worker(t, false);
    t.began_ns = os::last_tick_ns();
    t.floats.give_to_caller(); // its worker has what the thread before it has left behind
    begin_name_in_reports(t, sched::identity_of(stands_on).id);
    run_start(t);
    if (has_arrived_signals(t)) run_to_end(t, &call_handlers);
    leave_robust_mutexes();
    if (sched::this_worker()->is_guest()) end_as_main(t);
    free_own_of_libc(t);
    end_name_in_reports(t);
    thread_blocks::close(t);
    give_back_all(t);
    sched::take_variables(nullptr);
    std::uint32_t const before = note_end(t);
    if ((before & k_detached) != 0) return thread_blocks::give(t);
    if ((before & k_awaited) != 0) futex_wake(t.life, INT_MAX);
}

// `by` is the caller, or null if it is an OS thread; in begin_mask, too.
void read_attributes(thread& t, thread const* by, pthread_attr_t const* how) noexcept {
    ask(how, t.asked);
    // relaxed: it has not started.
    if (t.asked.is_detached) t.life.store(k_detached, std::memory_order_relaxed);
    inherit_scheduling(t, by, t.asked.inherits_scheduling);
}

// Who joins or detaches it has a handle on it, from before it may end.
int spawn_thread(thread& t) noexcept try {
    // relaxed: it has not started.
    bool const is_detached = (t.life.load(std::memory_order_relaxed) & k_detached) != 0;
    attributes how;
    how.stack_size = t.asked.stack_size;
    detail::thread_core* const core = detail::make_thread(
        how, [&t] { run_thread(t); }, is_detached);
    if (!is_detached) t.handle = core;
    detail::start_thread(core, is_detached, false);
    return 0;
} catch (std::exception const&) {
    return EAGAIN;
}

// A thread that stays one of the C library: the process ends with the last of all.
struct os_thread {
    void* (*start)(void*);
    void* argument;

    static void* run(void* of) {
        os_thread const one = *std::unique_ptr<os_thread>(static_cast<os_thread*>(of));
        struct ending {
            ~ending() { // also where its stack is unwound
                if (!is_expected) living::end_one();
            }
            bool is_expected;
        } const at_end{living::expect_own_end()};
        return one.start(one.argument);
    }
};

int create_os_thread(pthread_t* id, pthread_attr_t const* how, void* (*start)(void*),
                     void* argument) noexcept {
    std::unique_ptr<os_thread> one(new (std::nothrow) os_thread{start, argument});
    if (one == nullptr) return EAGAIN;
    living::add();
    int const error = TULLE_LIBC(pthread_create)(id, how, &os_thread::run, one.get());
    if (error == 0)
        static_cast<void>(one.release());
    else
        living::end_one();
    return error;
}

// relaxed, all: it has not started. What the caller, a thread, wants somebody wants already.
void inherit_mask(thread& t, thread const& by) noexcept {
    signal_set const blocked = by.blocked.load(std::memory_order_relaxed);
    guard(blocked); // a handler's is not
    t.blocked.store(blocked, std::memory_order_relaxed);
}
void choose_mask(thread& t, signal_set blocked) noexcept {
    guard(blocked);
    t.blocked.store(blocked & ~k_never_blocked, std::memory_order_relaxed);
    want(~blocked);
}

// What a thread begins with: what its attributes say, or what the caller has.
void begin_mask(thread& t, thread const* by, pthread_attr_t const* how) noexcept {
    sigset_t chosen;
    if (how != nullptr && pthread_attr_getsigmask_np(how, &chosen) == 0)
        choose_mask(t, set_of(chosen));
    else if (by != nullptr && !is_on_own_os_thread()) // see handle_in_child
        inherit_mask(t, *by);
    else
        choose_mask(t, mask_of_caller());
}

// Instead of an error: the C library is to make it.
constexpr int k_stack_is_too_large = -1;

int create(pthread_t* id, pthread_attr_t const* how, void* (*start)(void*), void* argument) {
    thread const* const by = self();
    thread* const t = thread_blocks::take();
    if (t == nullptr) return EAGAIN;
    read_attributes(*t, by, how);
    if (t->asked.stack_size > stack::k_largest_bytes) {
        thread_blocks::close(*t);
        thread_blocks::give(*t);
        return k_stack_is_too_large;
    }
    inherit_name(*t, by);
    begin_mask(*t, by, how);
    t->start = start;
    t->argument = argument;
    *id = t->id(); // it may end before spawn_thread returns
    int const error = spawn_thread(*t);
    if (error == 0) return 0;
    thread_blocks::close(*t);
    give_back_all(*t); // it may have been lent one since begin_mask
    thread_blocks::give(*t);
    return error;
}

// Of a thread that is gone: as natively, one that was detached cannot be joined, as long as its
// pthread_t has not got a new meaning. relaxed: see give.
int why_gone(thread const& t) noexcept {
    return (t.life.load(std::memory_order_relaxed) & k_detached) != 0 ? EINVAL : ESRCH;
}

// In a forked child. As the C library has it, threads of the parent that nobody had joined have
// ended there: programs that end by exit in a child join them at the end, if objects of the program
// do. Whether `t` is such a one, which it is once.
bool end_of_parents(thread& t, void** result) noexcept {
    if (!t.is_to_be_joined) return false;
    t.is_to_be_joined = false;
    if (result != nullptr) *result = t.result;
    return true;
}

// The caller gets the right to join, and 0; or why not.
int begin_to_join(thread& t, thread const* caller) noexcept {
    if (!t.is_used.load(std::memory_order_relaxed)) return why_gone(t); // relaxed: see give
    std::uint32_t life = t.life.load(std::memory_order_relaxed);        // relaxed: exchanged below
    if (&t == caller) return (life & k_detached) != 0 ? EINVAL : EDEADLK;
    do {
        if ((life & (k_detached | k_joining)) != 0) return EINVAL;
    } while (!t.life.compare_exchange_weak(life, life | k_joining, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    return 0;
}

// The caller is about to wait for nothing else: if nobody has begun `t` it begins here, before the
// caller is made to wait, and mostly ends before the caller looks.
void begin_now(thread& t) noexcept { static_cast<void>(sched::yield_to_thread(t.handle, t.block)); }

// By the one who has joined or detached it.
void drop_handle(detail::thread_core* handle) noexcept {
    if (handle != nullptr) detail::release_thread(handle);
}

void end_join(thread& t, void** result) noexcept {
    if (result != nullptr) *result = t.result;
    drop_handle(t.handle);
    thread_blocks::give(t);
}

// The right to join, which goes back if the caller gives up, or is cancelled.
class right_to_join {
public:
    explicit right_to_join(thread& t) noexcept : m_thread(&t) {}
    right_to_join(right_to_join const&) = delete;
    right_to_join& operator=(right_to_join const&) = delete;
    // acq_rel: it may be joined by another one from now on.
    ~right_to_join() {
        if (m_thread != nullptr) m_thread->life.fetch_and(~k_joining, std::memory_order_acq_rel);
    }
    void use() noexcept { m_thread = nullptr; }

private:
    thread* m_thread;
};

// No handler ends it.
void look_in_join(thread* caller, os_attention& attention) {
    if (caller != nullptr)
        static_cast<void>(run_handlers(*caller));
    else
        static_cast<void>(attention.renew());
    test_cancel(caller);
}

bool is_at_end(thread const& t) noexcept {
    return (t.life.load(std::memory_order_acquire) & k_ended) != 0; // pairs with run_thread
}

int await_end(thread& t, thread* caller, std::uint64_t deadline) {
    if (is_at_end(t)) return 0;
    os_attention attention(caller, ended_by::no_handler);
    test_cancel(caller);
    for (;;) {
        // acquire, also where it has ended: pairs with note_end.
        std::uint32_t const life = t.life.fetch_or(k_awaited, std::memory_order_acquire);
        if ((life & k_ended) != 0) return 0;
        int const how = futex_wait(t.life, life | k_awaited, attention.until(deadline));
        if (how == ECANCELED) look_in_join(caller, attention);
        if (how == ETIMEDOUT) return ETIMEDOUT;
    }
}

int join(thread& t, void** result, std::uint64_t deadline) {
    thread* const caller = self();
    test_cancel(caller);
    if (end_of_parents(t, result)) return 0;
    if (int const error = begin_to_join(t, caller)) return error;
    right_to_join right(t);
    if (caller != nullptr && deadline == wait::k_never) begin_now(t);
    if (int const error = await_end(t, caller, deadline)) return error;
    right.use();
    end_join(t, result);
    return 0;
}

// No cancellation point.
int try_to_join(thread& t, void** result) {
    if (end_of_parents(t, result)) return 0;
    if (int const error = begin_to_join(t, self())) return error;
    right_to_join right(t);
    if (!is_at_end(t)) return EBUSY;
    right.use();
    end_join(t, result);
    return 0;
}

int join_by(thread& t, void** result, clockid_t clock, timespec const* until) {
    if (until == nullptr) return join(t, result, wait::k_never);
    if (!is_clock(clock) || (!is_time(*until) && !is_at_end(t))) return EINVAL;
    return join(t, result, deadline_at(clock, *until));
}

} // namespace

// acquire pairs with start_once.
bool is_started() noexcept {
    return s_state.load(std::memory_order_acquire) == run_time_state::started;
}

int own_number() noexcept {
    std::size_t const offset = thread_blocks::tid_offset();
    if (TULLE_UNLIKELY(offset == 0))
        return static_cast<int>(TULLE_LIBC(syscall)(static_cast<long>(SYS_gettid)));
    return *reinterpret_cast<int const*>(thread_blocks::descriptor(arch::thread_pointer()) +
                                         offset);
}

// --- time ----------------------------------------------------------------------------------------

bool is_clock(clockid_t clock) noexcept {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

namespace {

// Of times that are centuries away, as many as can be counted.
std::int64_t nanoseconds(timespec const& t) noexcept {
    constexpr time_t k_most = 4'000'000'000;
    return static_cast<std::int64_t>(std::clamp(t.tv_sec, -k_most, k_most)) * 1'000'000'000 +
           t.tv_nsec;
}

std::uint64_t clamped(std::int64_t deadline) noexcept {
    return deadline <= 0 ? 0 : static_cast<std::uint64_t>(deadline);
}

} // namespace

std::uint64_t deadline_at(clockid_t clock, timespec const& t) noexcept {
    if (clock == CLOCK_MONOTONIC) return clamped(nanoseconds(t));
    timespec now{};
    clock_gettime(clock, &now);
    std::int64_t const left = nanoseconds(t) - nanoseconds(now);
    return left <= 0 ? 0 : clamped(left + static_cast<std::int64_t>(os::monotonic_ns()));
}

std::uint64_t deadline_after(timespec const& t) noexcept {
    return clamped(nanoseconds(t) + static_cast<std::int64_t>(os::monotonic_ns()));
}

timespec left_until(std::uint64_t deadline) noexcept {
    std::uint64_t const now = os::monotonic_ns();
    std::uint64_t const left = deadline > now ? deadline - now : 0;
    return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_create(pthread_t* id, pthread_attr_t const* how, void* (*start)(void*),
                                   void* argument) {
    kept_errno const kept;
    uncancelled const meanwhile;
    living::expect_end_of_main();
    auto why = needs_os_thread(how);
    if (!why && waits_by_system_calls(start)) why = tulle::diag::os_thread_reason::own_waits;
    // Otherwise nobody would tell.
    if (why && tulle::runtime::the().options().number(tulle::base::option_id::explain) != 0)
        static_cast<void>(start_once());
    if (!why && !start_once()) why = tulle::diag::os_thread_reason::no_run_time;
    int const error = why ? k_stack_is_too_large : create(id, how, start, argument);
    if (error != k_stack_is_too_large) return error;
    tulle::diag::note_os_thread(why.value_or(tulle::diag::os_thread_reason::large_stack));
    return create_os_thread(id, how, start, argument);
}

namespace {

// By a thread of ours: nobody tells it of the end.
int join_os_thread(thread& caller, pthread_t id, void** result, std::uint64_t deadline) {
    kept_errno const kept;
    int error = 0;
    repetition const how{.not_yet = EBUSY, .ends_for_handlers = false, .deadline = deadline};
    static_cast<void>(repeat(caller, how, [&] {
        error = TULLE_LIBC(pthread_tryjoin_np)(id, result);
        return error == EBUSY ? fail(EBUSY) : 0;
    }));
    return error == EBUSY ? ETIMEDOUT : error;
}

int join_os_thread_by(pthread_t id, void** result, clockid_t clock, timespec const* until) {
    thread* const caller = self();
    if (caller == nullptr || until == nullptr || !is_clock(clock) || !is_time(*until))
        return TULLE_LIBC(pthread_clockjoin_np)(id, result, clock, until);
    return join_os_thread(*caller, id, result, deadline_at(clock, *until));
}

} // namespace

TULLE_INTERPOSE int pthread_join(pthread_t id, void** result) {
    if (thread* const t = thread_of(id)) return join(*t, result, tulle::wait::k_never);
    thread* const caller = self();
    return caller != nullptr ? join_os_thread(*caller, id, result, tulle::wait::k_never)
                             : TULLE_LIBC(pthread_join)(id, result);
}

TULLE_INTERPOSE int pthread_tryjoin_np(pthread_t id, void** result) {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_tryjoin_np)(id, result);
    // One that has not ended is busy, whatever else may be said of it, and others may join it
    // meanwhile.
    return !has_ended(*t) ? EBUSY : try_to_join(*t, result);
}

TULLE_INTERPOSE int pthread_timedjoin_np(pthread_t id, void** result, timespec const* until) {
    thread* const t = thread_of(id);
    return t == nullptr ? join_os_thread_by(id, result, CLOCK_REALTIME, until)
                        : join_by(*t, result, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE int pthread_clockjoin_np(pthread_t id, void** result, clockid_t clock,
                                         timespec const* until) {
    thread* const t = thread_of(id);
    return t == nullptr ? join_os_thread_by(id, result, clock, until)
                        : join_by(*t, result, clock, until);
}

TULLE_INTERPOSE int pthread_detach(pthread_t id) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_detach)(id);
    if (end_of_parents(*t, nullptr)) return 0;
    if (!t->is_used.load(std::memory_order_relaxed)) return why_gone(*t); // relaxed: see give
    tulle::detail::thread_core* const handle = t->handle; // of the next thread once it is given
    std::uint32_t life = t->life.load(std::memory_order_relaxed); // relaxed: exchanged below
    do {
        if ((life & (k_detached | k_joining)) != 0) return EINVAL;
    } while (!t->life.compare_exchange_weak(life, life | k_detached, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    drop_handle(handle);
    if ((life & k_ended) != 0) thread_blocks::give(*t);
    return 0;
}

TULLE_INTERPOSE int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                      void* library) noexcept {
    if (!tulle::base::has_foreign_thread_sanitizer()) prepare_calls(); // it is not ready itself
    return TULLE_LIBC(__register_atfork)(prepare, parent, child, library);
}

TULLE_INTERPOSE __attribute__((noreturn)) void pthread_exit(void* result) {
    if (thread* const t = self()) {
        if (!t->is_ending && has_arrived_signals(*t)) static_cast<void>(run_handlers(*t));
        end_self(*t, result);
    }
    // Without keys the end of main is noted here, and what it has to do may be cut off.
    if (!living::expect_end_of_main()) living::end_main();
    TULLE_LIBC(pthread_exit)(result);
    __builtin_unreachable();
}
