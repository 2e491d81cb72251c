// SPDX-License-Identifier: Apache-2.0
// Mutexes as the C library lays them out, so that initializers, pthread_mutex_init and
// pthread_mutex_destroy are its own. __lock: 0 free, 1 held, 2 held and perhaps waited for.
// Mutexes that processes share are the C library's (shared_mutex.cpp, robust_mutex.cpp). That a
// mutex hands on
// priorities has no effect, as workers run all threads alike; of a ceiling it is known who may not
// take the mutex. It stands in bits of __kind of which the C library takes no notice.
#include "base/cpu_pause.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/lock_wait.hpp"
#include "compat/pthread/locks/robust_mutex.hpp"
#include "compat/pthread/locks/shared_mutex.hpp"

namespace {

using namespace tulle::posix;

constexpr int k_kind_bits = 3;
constexpr int k_inherits_priority = 32, k_protects_priority = 64;
// Robust, priority inheritance and protection, process-shared.
constexpr int k_foreign_bits = 16 | k_inherits_priority | k_protects_priority | 128;
constexpr int k_ceiling_shift = 16, k_ceiling_bits = 0x7f << k_ceiling_shift;
constexpr int k_spins = 40;

int kind_of(pthread_mutex_t const* m) noexcept { return m->__data.__kind & k_kind_bits; }
// Neither of the two: a mutex of ours that anybody may take.
bool is_plain(pthread_mutex_t const* m) noexcept {
    return (m->__data.__kind & (k_foreign_bits | k_ceiling_bits)) == 0;
}
bool is_foreign(pthread_mutex_t const* m) noexcept {
    return (m->__data.__kind & k_foreign_bits) != 0;
}
// 0: it has none.
int ceiling_of(pthread_mutex_t const* m) noexcept {
    return (m->__data.__kind & k_ceiling_bits) >> k_ceiling_shift;
}
// Of foreign ones. Those of an OS thread are the C library's.
bool is_robust_of_thread(pthread_mutex_t const* m) noexcept {
    return is_robust(m) && self() != nullptr;
}

// acquire pairs with the release in unlock.
bool try_take(futex_word& lock) noexcept {
    std::uint32_t free = 0;
    return lock.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                        std::memory_order_relaxed); // relaxed: it is held
}

// Spins as long as nobody waits: more would keep the holder from running.
bool try_for_a_while(futex_word& lock) noexcept {
    for (int k = 0; k != k_spins; ++k) {
        std::uint32_t const seen = lock.load(std::memory_order_relaxed); // relaxed: a hint
        if (seen == 2 || parking::has_ready_threads()) return false;
        if (seen == 0 && try_take(lock)) return true;
        tulle::base::cpu_pause();
    }
    return false;
}

bool take(futex_word& lock, std::uint64_t deadline) {
    if (TULLE_LIKELY(try_take(lock)) || try_for_a_while(lock)) return true;
    lock_turns turns{.granted = 2};
    while (lock.exchange(2, std::memory_order_acquire) != 0) { // pairs with the release in unlock
        if (forking::in_child()) return true;
        if (wait_for_lock(lock, 2, deadline, &turns) == ETIMEDOUT) return false;
        if (turns.is_granted) return true;
        ++turns.lost;
    }
    return true;
}

void note_owner(pthread_mutex_t* m) noexcept {
    m->__data.__owner = own_number();
    ++m->__data.__nusers;
    m->__data.__count = kind_of(m) == PTHREAD_MUTEX_RECURSIVE ? 1 : 0;
}

enum class again { no, done, refused, too_often };

// What a lock by its holder does.
again lock_again(pthread_mutex_t* m) noexcept {
    int const kind = kind_of(m);
    if (kind != PTHREAD_MUTEX_RECURSIVE && kind != PTHREAD_MUTEX_ERRORCHECK) return again::no;
    if (m->__data.__owner != own_number()) return again::no;
    if (kind == PTHREAD_MUTEX_ERRORCHECK) return again::refused;
    if (m->__data.__count + 1 == 0) return again::too_often;
    ++m->__data.__count;
    return again::done;
}

int lock_until(pthread_mutex_t* m, std::uint64_t deadline) {
    switch (lock_again(m)) {
        case again::done: return 0;
        case again::refused: return EDEADLK;
        case again::too_often: return EAGAIN;
        case again::no: break;
    }
    if (!take(word_of(m->__data.__lock), deadline)) return ETIMEDOUT;
    note_owner(m);
    return 0;
}

int try_lock(pthread_mutex_t* m) noexcept {
    switch (lock_again(m)) {
        case again::done: return 0;
        case again::refused: return EBUSY;
        case again::too_often: return EAGAIN;
        case again::no: break;
    }
    if (!try_take(word_of(m->__data.__lock))) return EBUSY;
    note_owner(m);
    return 0;
}

int lock_foreign(pthread_mutex_t* m) {
    if (is_robust_of_thread(m)) return lock_robust(m, tulle::wait::k_never);
    return is_robust(m) ? TULLE_LIBC(pthread_mutex_lock)(m)
                        : lock_shared(m, CLOCK_REALTIME, nullptr);
}
int try_foreign(pthread_mutex_t* m) noexcept {
    return is_robust_of_thread(m) ? lock_robust(m, 0) : TULLE_LIBC(pthread_mutex_trylock)(m);
}
int lock_foreign_by(pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (!is_robust(m)) return lock_shared(m, clock, until);
    if (!is_robust_of_thread(m)) return TULLE_LIBC(pthread_mutex_clocklock)(m, clock, until);
    if (!is_clock(clock)) return EINVAL;
    int const error = lock_robust(m, 0);
    if (error != EBUSY) return error;
    if (!is_time(*until)) return EINVAL;
    int const late = lock_robust(m, deadline_at(clock, *until));
    return late == EBUSY ? ETIMEDOUT : late; // the time is over
}

// POSIX has a wrong time refused only if the call would wait.
int lock_by(pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (!is_clock(clock)) return EINVAL;
    int const error = try_lock(m);
    if (error != EBUSY) return error;
    if (kind_of(m) == PTHREAD_MUTEX_ERRORCHECK && m->__data.__owner == own_number()) return EDEADLK;
    return is_time(*until) ? lock_until(m, deadline_at(clock, *until)) : EINVAL;
}

int priority_of_caller() noexcept {
    thread const* const t = self();
    int policy = SCHED_OTHER;
    sched_param how{};
    if (t == nullptr) {
        TULLE_LIBC(pthread_getschedparam)(pthread_self(), &policy, &how);
        return how.sched_priority;
    }
    return t->priority;
}

bool may_take(pthread_mutex_t const* m) noexcept {
    return ceiling_of(m) == 0 || priority_of_caller() <= ceiling_of(m);
}

// Of those that are not plain.
int lock_special(pthread_mutex_t* m) {
    if (!may_take(m)) return EINVAL;
    return is_foreign(m) ? lock_foreign(m) : lock_until(m, tulle::wait::k_never);
}
int try_special(pthread_mutex_t* m) noexcept {
    if (!may_take(m)) return EINVAL;
    return is_foreign(m) ? try_foreign(m) : try_lock(m);
}
int lock_special_by(pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (!may_take(m)) return EINVAL;
    return is_foreign(m) ? lock_foreign_by(m, clock, until) : lock_by(m, clock, until);
}

int unlock(pthread_mutex_t* m) noexcept {
    int const kind = kind_of(m);
    if (kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK) {
        if (m->__data.__owner != own_number()) return EPERM;
        if (kind == PTHREAD_MUTEX_RECURSIVE && --m->__data.__count != 0) return 0;
    }
    m->__data.__owner = 0;
    --m->__data.__nusers;
    futex_word& lock = word_of(m->__data.__lock);
    std::uint32_t held = 1; // release: what was done under the lock is visible to the next holder
    if (!lock.compare_exchange_strong(held, 0, std::memory_order_release,
                                      std::memory_order_relaxed)) // relaxed: it is 2
        free_or_hand_on(lock, 1);
    return 0;
}

} // namespace

int tulle::posix::lock_mutex(pthread_mutex_t* m) {
    return TULLE_LIKELY(is_plain(m)) ? lock_until(m, wait::k_never) : lock_special(m);
}

int tulle::posix::unlock_mutex(pthread_mutex_t* m) noexcept {
    if (TULLE_LIKELY(!is_foreign(m))) return unlock(m);
    if (is_robust_of_thread(m)) return unlock_robust(m);
    return is_robust(m) ? TULLE_LIBC(pthread_mutex_unlock)(m) : unlock_shared(m);
}

bool tulle::posix::holds_mutex(pthread_mutex_t* m) noexcept {
    return is_robust(m) ? holds_robust(m) : m->__data.__owner == own_number();
}

TULLE_INTERPOSE_WAIT(pthread_mutex_lock, (pthread_mutex_t * m)) { return lock_mutex(m); }

TULLE_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
    return TULLE_LIKELY(is_plain(m)) ? try_lock(m) : try_special(m);
}

TULLE_INTERPOSE_WAIT(pthread_mutex_timedlock, (pthread_mutex_t * m, timespec const* until)) {
    return is_plain(m) ? lock_by(m, CLOCK_REALTIME, until)
                       : lock_special_by(m, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE_WAIT(pthread_mutex_clocklock,
                     (pthread_mutex_t * m, clockid_t clock, timespec const* until)) {
    return is_plain(m) ? lock_by(m, clock, until) : lock_special_by(m, clock, until);
}

TULLE_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* m) noexcept { return unlock_mutex(m); }

namespace {

// Where the C library has a ceiling in a word that is free.
constexpr int k_shift_in_word = 19;

void set_ceiling(pthread_mutex_t* m, int ceiling) noexcept {
    std::atomic_ref<int> kind(m->__data.__kind);
    // relaxed, both: whoever takes the mutex meanwhile may see either.
    int const others = kind.load(std::memory_order_relaxed) & ~k_ceiling_bits;
    kind.store(others | ceiling << k_ceiling_shift, std::memory_order_relaxed);
}

bool is_ceiling(int priority) noexcept {
    return priority >= sched_get_priority_min(SCHED_FIFO) &&
           priority <= sched_get_priority_max(SCHED_FIFO);
}

} // namespace

TULLE_INTERPOSE int pthread_mutex_init(pthread_mutex_t* m,
                                       pthread_mutexattr_t const* how) noexcept {
    int const error = TULLE_LIBC(pthread_mutex_init)(m, how);
    if (error != 0) return error;
    bool const has_ceiling = (m->__data.__kind & k_protects_priority) != 0;
    m->__data.__kind &= ~(k_inherits_priority | k_protects_priority);
    if (!has_ceiling) return 0;
    set_ceiling(m, m->__data.__lock >> k_shift_in_word);
    m->__data.__lock = 0;
    return 0;
}

TULLE_INTERPOSE int pthread_mutex_getprioceiling(pthread_mutex_t const* m, int* ceiling) noexcept {
    if (ceiling_of(m) == 0) return EINVAL;
    *ceiling = ceiling_of(m);
    return 0;
}

// Whoever changes it takes the mutex, whatever the ceiling is: one that is refused to its holder is
// refused here, too. None is robust (pthread_mutex_init), so no owner of it can have died.
TULLE_INTERPOSE_WAIT(pthread_mutex_setprioceiling,
                     (pthread_mutex_t * m, int ceiling, int* before)) {
    if (ceiling_of(m) == 0 || !is_ceiling(ceiling)) return EINVAL;
    int const error = is_foreign(m) ? lock_foreign(m) : lock_until(m, tulle::wait::k_never);
    if (error != 0) return error;
    if (before != nullptr) *before = ceiling_of(m);
    set_ceiling(m, ceiling);
    return unlock_mutex(m);
}
