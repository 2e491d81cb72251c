// SPDX-License-Identifier: Apache-2.0
// Conditions. pthread_cond_init is the C library's, which writes to __wrefs whether processes share
// the condition and which clock it has. The rest of the object is ours: a sequence that each signal
// changes, and the number of waiters.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/shared_wait.hpp"
#include "compat/pthread/threads/os_attention.hpp"

namespace {

using namespace tulle::posix;

constexpr unsigned k_shared = 1, k_monotonic = 2; // bits of __wrefs

bool is_foreign(pthread_cond_t const* c) noexcept { return (c->__data.__wrefs & k_shared) != 0; }
clockid_t clock_of(pthread_cond_t const* c) noexcept {
    return (c->__data.__wrefs & k_monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}
futex_word& sequence_of(pthread_cond_t* c) noexcept { return word_of(c->__data.__g_refs[0]); }
futex_word& waiters_of(pthread_cond_t* c) noexcept { return word_of(c->__data.__g_refs[1]); }

// A recursive mutex is let go of whatever its count is, as POSIX leaves open. The count of one that
// is another's is not touched: that one may be changing it, and the caller will be refused.
class depth_of {
public:
    explicit depth_of(pthread_mutex_t* m) noexcept
        : m_mutex(m),
          m_depth((m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && holds_mutex(m)
                      ? m->__data.__count
                      : 0) {
        if (m_depth > 1) m->__data.__count = 1;
    }
    void restore() const noexcept {
        if (m_depth > 1) m_mutex->__data.__count = m_depth;
    }

private:
    pthread_mutex_t* m_mutex;
    unsigned m_depth;
};

int wait_until(pthread_cond_t* c, pthread_mutex_t* m, std::uint64_t deadline) {
    thread* const caller = self();
    os_attention attention(caller, ended_by::no_handler);
    test_cancel(caller);
    futex_word& sequence = sequence_of(c);
    waiters_of(c).fetch_add(1, std::memory_order_seq_cst); // pairs with the fence in wake
    // relaxed: the mutex is held, and who signals without it may come first.
    std::uint32_t const seen = sequence.load(std::memory_order_relaxed);
    depth_of const depth(m);
    if (int const error = unlock_mutex(m)) {
        waiters_of(c).fetch_sub(1, std::memory_order_relaxed); // relaxed: nothing was published
        depth.restore();
        return error;
    }
    int const how = futex_wait(sequence, seen, attention.until(deadline));
    waiters_of(c).fetch_sub(1, std::memory_order_release); // the last access to the object
    // A wake-up for no reason, which POSIX allows, lets the program see what they have done.
    if (how == ECANCELED && caller != nullptr) static_cast<void>(run_handlers(*caller));
    int const error = lock_mutex(m);
    depth.restore();
    if (how == ECANCELED) test_cancel(caller);
    return error != 0 ? error : how == ETIMEDOUT ? ETIMEDOUT : 0;
}

int wait_by(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return EINVAL;
    return wait_until(c, m, deadline_at(clock, *until));
}

// By an OS thread, with a mutex that the C library can let go of.
bool is_left_to_libc(pthread_mutex_t const* m) noexcept {
    constexpr int k_shared_mutex = 128;
    return self() == nullptr && (m->__data.__kind & k_shared_mutex) != 0;
}

int wait_elsewhere(pthread_cond_t* c, pthread_mutex_t* m, wait_in_libc const& how) {
    if (is_left_to_libc(m)) return how(c, m);
    depth_of const depth(m);
    end_of_shared_wait const end = wait_by_os_thread(c, m, how);
    depth.restore();
    if (end.is_early) test_cancel(self());
    return end.error;
}

void wake(pthread_cond_t* c, int most) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with wait_until
    // relaxed: the fence
    if (waiters_of(c).load(std::memory_order_relaxed) == 0) return;
    sequence_of(c).fetch_add(1, std::memory_order_relaxed); // relaxed: the fence of futex_wake
    futex_wake(sequence_of(c), most);
}

} // namespace

// Waiters that have been woken may not have left the object yet.
TULLE_INTERPOSE int pthread_cond_destroy(pthread_cond_t* c) noexcept {
    if (is_foreign(c)) return TULLE_LIBC(pthread_cond_destroy)(c);
    while (waiters_of(c).load(std::memory_order_acquire) != 0)
        yield_to_others(); // pairs with wait_until
    return 0;
}

TULLE_INTERPOSE int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
    return is_foreign(c) ? wait_elsewhere(c, m, {nullptr, nullptr})
                         : wait_until(c, m, tulle::wait::k_never);
}

TULLE_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m,
                                           timespec const* until) {
    return is_foreign(c) ? wait_elsewhere(c, m, {nullptr, until})
                         : wait_by(c, m, clock_of(c), until);
}

TULLE_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                           timespec const* until) {
    return is_foreign(c) ? wait_elsewhere(c, m, {&clock, until}) : wait_by(c, m, clock, until);
}

TULLE_INTERPOSE int pthread_cond_signal(pthread_cond_t* c) noexcept {
    if (is_foreign(c)) return TULLE_LIBC(pthread_cond_signal)(c);
    wake(c, 1);
    return 0;
}

TULLE_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
    if (is_foreign(c)) return TULLE_LIBC(pthread_cond_broadcast)(c);
    wake(c, INT_MAX);
    return 0;
}
