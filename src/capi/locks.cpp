// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/locks.h>: thin calls onto the cores.
#include "capi/limit.hpp"
#include "sync/mutex_ops.hpp"
#include "sync/mutex_owner.hpp"
#include "sync/semaphore_core.hpp"
#include "sync/shared_mutex_core.hpp"
#include "sync/spin_core.hpp"

#include <tulle/c/locks.h>
#include <tulle/recursive_mutex.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace tulle::capi {
namespace {

using namespace sync;

semaphore_core<parking>& core(tulle_sem_t* s) noexcept {
    return object_in<semaphore_core<parking>>(s);
}
shared_mutex_core<parking>& core(tulle_rwlock_t* l) noexcept {
    return object_in<shared_mutex_core<parking>>(l);
}
detail::spin_front& core(tulle_spin_t* l) noexcept { return object_in<detail::spin_front>(l); }

struct c_recursive_mutex {
    detail::mutex_front front;
    native_mutex_queue queue;
    std::atomic<thread_id> owner;
    std::uint64_t depth;
};
static_assert(offsetof(c_recursive_mutex, front) == 0 &&
                  offsetof(c_recursive_mutex, owner) == detail::mutex_owner::offset(),
              "reports of waiting threads read its owner as that of a tulle::mutex");
c_recursive_mutex& core(tulle_rmutex_t* m) noexcept { return object_in<c_recursive_mutex>(m); }

// relaxed, here and below: only the caller's own number is compared with, and it wrote that itself.
bool is_own(c_recursive_mutex const& m) noexcept {
    return m.owner.load(std::memory_order_relaxed) == this_thread::get_id();
}

// Locks it by lock_mutex(front, queue), unless the caller holds it already. Returns whether the
// caller holds it now.
template <class Lock> bool lock_again_or(c_recursive_mutex& m, Lock lock_mutex) noexcept {
    if (is_own(m)) {
        ++m.depth;
        return true;
    }
    if (!lock_mutex(m.front, m.queue)) return false;
    m.owner.store(this_thread::get_id(), std::memory_order_relaxed); // relaxed: as above
    m.depth = 1;
    return true;
}
bool lock_recursive_until(c_recursive_mutex& m, detail::limit until) noexcept {
    return lock_again_or(m, [until](auto& front, auto& queue) {
        return try_lock(front, queue) ||
               lock_contended(front, queue, until, wait::wait_kind::owned_mutex);
    });
}
bool take(detail::spin_front& front) noexcept {
    schedule_point();
    return front.held.load(std::memory_order_relaxed) == 0 && front.try_lock(); // relaxed: a hint
}
bool lock_spin_until(detail::spin_front& front, detail::limit until) noexcept {
    return take(front) || spin_core<parking>(front).lock_until(until);
}
int in_time(bool done) noexcept { return done ? 0 : -ETIMEDOUT; }
int at_once(bool done) noexcept { return done ? 0 : -EBUSY; }

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

// --- semaphore -----------------------------------------------------------------------------------

int tulle_sem_init(tulle_sem_t* sem, uint64_t count) {
    if (count > semaphore_core<parking>::k_most || clear_object(sem) != 0) return -EINVAL;
    core(sem).open(count);
    return 0;
}

int tulle_sem_destroy(tulle_sem_t* sem) {
    if (sem == nullptr) return -EINVAL;
    return core(sem).has_waiters() ? -EBUSY : 0;
}

int tulle_sem_wait(tulle_sem_t* sem) {
    if (sem == nullptr) return -EINVAL;
    core(sem).acquire();
    return 0;
}

int tulle_sem_trywait(tulle_sem_t* sem) {
    return sem == nullptr ? -EINVAL : at_once(core(sem).try_acquire());
}

int tulle_sem_timedwait(tulle_sem_t* sem, uint64_t timeout_ns) {
    return sem == nullptr ? -EINVAL : in_time(core(sem).acquire_until(deadline_in(timeout_ns)));
}

int tulle_sem_wait_within(tulle_sem_t* sem, const tulle_limit_t* limit) {
    if (sem == nullptr || limit == nullptr) return -EINVAL;
    return within(*limit, [sem](tulle::detail::limit l) { return core(sem).acquire_until(l); });
}

int tulle_sem_post(tulle_sem_t* sem, uint64_t count) {
    if (sem == nullptr) return -EINVAL;
    return core(sem).release(count) ? 0 : -EOVERFLOW;
}

int tulle_sem_getvalue(tulle_sem_t* sem, uint64_t* count) {
    if (sem == nullptr || count == nullptr) return -EINVAL;
    *count = core(sem).count();
    return 0;
}

// --- rwlock --------------------------------------------------------------------------------------

int tulle_rwlock_init(tulle_rwlock_t* lock) { return clear_object(lock); }

int tulle_rwlock_destroy(tulle_rwlock_t* lock) {
    if (lock == nullptr) return -EINVAL;
    return core(lock).is_used() ? -EBUSY : 0;
}

int tulle_rwlock_rdlock(tulle_rwlock_t* lock) {
    if (lock == nullptr) return -EINVAL;
    core(lock).lock_shared();
    return 0;
}

int tulle_rwlock_tryrdlock(tulle_rwlock_t* lock) {
    return lock == nullptr ? -EINVAL : at_once(core(lock).try_lock_shared());
}

int tulle_rwlock_timedrdlock(tulle_rwlock_t* lock, uint64_t timeout_ns) {
    return lock == nullptr ? -EINVAL
                           : in_time(core(lock).lock_shared_until(deadline_in(timeout_ns)));
}

int tulle_rwlock_rdlock_within(tulle_rwlock_t* lock, const tulle_limit_t* limit) {
    if (lock == nullptr || limit == nullptr) return -EINVAL;
    return within(*limit,
                  [lock](tulle::detail::limit l) { return core(lock).lock_shared_until(l); });
}

int tulle_rwlock_wrlock(tulle_rwlock_t* lock) {
    if (lock == nullptr) return -EINVAL;
    core(lock).lock();
    return 0;
}

int tulle_rwlock_trywrlock(tulle_rwlock_t* lock) {
    return lock == nullptr ? -EINVAL : at_once(core(lock).try_lock());
}

int tulle_rwlock_timedwrlock(tulle_rwlock_t* lock, uint64_t timeout_ns) {
    return lock == nullptr ? -EINVAL : in_time(core(lock).lock_until(deadline_in(timeout_ns)));
}

int tulle_rwlock_wrlock_within(tulle_rwlock_t* lock, const tulle_limit_t* limit) {
    if (lock == nullptr || limit == nullptr) return -EINVAL;
    return within(*limit, [lock](tulle::detail::limit l) { return core(lock).lock_until(l); });
}

int tulle_rwlock_unlock(tulle_rwlock_t* lock) {
    if (lock == nullptr) return -EINVAL;
    if (core(lock).is_written())
        core(lock).unlock();
    else if (core(lock).readers() != 0)
        core(lock).unlock_shared();
    else
        return -EPERM;
    return 0;
}

// --- recursive mutex -----------------------------------------------------------------------------

int tulle_rmutex_init(tulle_rmutex_t* mutex) { return clear_object(mutex); }

int tulle_rmutex_destroy(tulle_rmutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    // relaxed: nobody may use it any longer
    return core(mutex).owner.load(std::memory_order_relaxed) != 0 ? -EBUSY : 0;
}

int tulle_rmutex_lock(tulle_rmutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    static_cast<void>(lock_recursive_until(core(mutex), tulle::detail::k_no_deadline));
    return 0;
}

int tulle_rmutex_trylock(tulle_rmutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    return at_once(lock_again_or(core(mutex),
                                 [](auto& front, auto& queue) { return try_lock(front, queue); }));
}

int tulle_rmutex_timedlock(tulle_rmutex_t* mutex, uint64_t timeout_ns) {
    return mutex == nullptr ? -EINVAL
                            : in_time(lock_recursive_until(core(mutex), deadline_in(timeout_ns)));
}

int tulle_rmutex_lock_within(tulle_rmutex_t* mutex, const tulle_limit_t* limit) {
    if (mutex == nullptr || limit == nullptr) return -EINVAL;
    return within(*limit,
                  [mutex](tulle::detail::limit l) { return lock_recursive_until(core(mutex), l); });
}

int tulle_rmutex_unlock(tulle_rmutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    c_recursive_mutex& m = core(mutex);
    if (!is_own(m)) return -EPERM;
    if (--m.depth != 0) return 0;
    m.owner.store(0, std::memory_order_relaxed); // relaxed: as above
    unlock(m.front, m.queue);
    tulle::schedule_point();
    return 0;
}

// --- spin lock -----------------------------------------------------------------------------------

int tulle_spin_init(tulle_spin_t* lock) { return clear_object(lock); }

int tulle_spin_lock(tulle_spin_t* lock) {
    if (lock == nullptr) return -EINVAL;
    static_cast<void>(lock_spin_until(core(lock), tulle::detail::k_no_deadline));
    return 0;
}

int tulle_spin_trylock(tulle_spin_t* lock) {
    return lock == nullptr ? -EINVAL : at_once(take(core(lock)));
}

int tulle_spin_timedlock(tulle_spin_t* lock, uint64_t timeout_ns) {
    return lock == nullptr ? -EINVAL
                           : in_time(lock_spin_until(core(lock), deadline_in(timeout_ns)));
}

int tulle_spin_lock_within(tulle_spin_t* lock, const tulle_limit_t* limit) {
    if (lock == nullptr || limit == nullptr) return -EINVAL;
    return within(*limit,
                  [lock](tulle::detail::limit l) { return lock_spin_until(core(lock), l); });
}

int tulle_spin_unlock(tulle_spin_t* lock) {
    if (lock == nullptr) return -EINVAL;
    core(lock).unlock();
    return 0;
}
