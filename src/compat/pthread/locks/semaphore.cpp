// SPDX-License-Identifier: Apache-2.0
// Semaphores as the C library lays them out: the value, the number of waiters, which stays 0, and
// whether processes share it. sem_init, sem_destroy and sem_getvalue are its own; so is all of a
// shared semaphore (shared_semaphore.hpp).
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/shared_semaphore.hpp"
#include "compat/pthread/threads/os_attention.hpp"

namespace {

using namespace tulle::posix;

struct semaphore {
    futex_word value;
    futex_word waiters;
    int shared; // 0: by the threads of one process
};
static_assert(sizeof(semaphore) <= sizeof(sem_t));

semaphore& of(sem_t* s) noexcept { return *reinterpret_cast<semaphore*>(s); }

bool try_down(semaphore& s) noexcept {
    std::uint32_t value = s.value.load(std::memory_order_relaxed); // relaxed: exchanged below
    while (value != 0) { // acquire pairs with the release in up; relaxed: tried again
        if (s.value.compare_exchange_weak(value, value - 1, std::memory_order_acquire,
                                          std::memory_order_relaxed))
            return true;
    }
    return false;
}

// Whether a handler has ended the wait of which `how` is said. As the kernel's do, waits with a
// time end at handlers with SA_RESTART, too.
bool is_interrupted(thread* caller, os_attention& attention, int how, bool is_timed) {
    if (how == EINTR) return true;
    if (how != ECANCELED) return false;
    if (caller != nullptr) return ends_at(attend(*caller), is_timed);
    bool const is_ended = attention.renew();
    test_cancel(caller);
    return is_ended;
}

int down_until(semaphore& s, std::uint64_t deadline) {
    thread* const caller = self();
    bool const is_timed = deadline != tulle::wait::k_never;
    os_attention attention(caller,
                           is_timed ? ended_by::all_handlers : ended_by::handlers_without_restart);
    test_cancel(caller);
    while (!try_down(s)) {
        int const how = futex_wait(s.value, 0, attention.until(deadline));
        if (is_interrupted(caller, attention, how, is_timed)) return fail(EINTR);
        if (how == ETIMEDOUT) return try_down(s) ? 0 : fail(ETIMEDOUT);
    }
    return 0;
}

int down(semaphore& s) {
    test_cancel(self());
    return try_down(s) ? 0 : down_until(s, tulle::wait::k_never);
}

// As in the C library, a wrong time is refused even if the call would not wait.
int down_by(semaphore& s, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return fail(EINVAL);
    test_cancel(self());
    return try_down(s) ? 0 : down_until(s, deadline_at(clock, *until));
}

int up(semaphore& s) noexcept {
    std::uint32_t value = s.value.load(std::memory_order_relaxed); // relaxed: exchanged below
    do {
        if (value == static_cast<std::uint32_t>(SEM_VALUE_MAX)) return fail(EOVERFLOW);
    } while (!s.value.compare_exchange_weak(value, value + 1, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)); // relaxed: tried again
    // Whoever has come down by that may have destroyed the semaphore: from here on only its address
    // is used.
    futex_wake(s.value, 1);
    return 0;
}

int down_shared(sem_t* s, semaphore_wait const& how) {
    thread* const t = self();
    return t != nullptr ? down_by_os_thread(*t, s, how) : how(s);
}

} // namespace

TULLE_INTERPOSE int sem_wait(sem_t* s) {
    return of(s).shared != 0 ? down_shared(s, {CLOCK_REALTIME, nullptr}) : down(of(s));
}

TULLE_INTERPOSE int sem_trywait(sem_t* s) noexcept {
    if (of(s).shared != 0) return TULLE_LIBC(sem_trywait)(s);
    return try_down(of(s)) ? 0 : fail(EAGAIN);
}

TULLE_INTERPOSE int sem_timedwait(sem_t* s, timespec const* until) {
    return of(s).shared != 0 ? down_shared(s, {CLOCK_REALTIME, until})
                             : down_by(of(s), CLOCK_REALTIME, until);
}

TULLE_INTERPOSE int sem_clockwait(sem_t* s, clockid_t clock, timespec const* until) {
    return of(s).shared != 0 ? down_shared(s, {clock, until}) : down_by(of(s), clock, until);
}

TULLE_INTERPOSE int sem_post(sem_t* s) noexcept {
    return of(s).shared != 0 ? TULLE_LIBC(sem_post)(s) : up(of(s));
}
