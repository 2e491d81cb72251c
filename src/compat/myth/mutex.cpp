// SPDX-License-Identifier: Apache-2.0
// A mutex is a native one with a type: one that is not normal also knows its owner and, if it is
// recursive, how often that has locked it.
#include "compat/myth/mutex.hpp"

#include "compat/myth/library.hpp"
#include "compat/myth/time.hpp"

#include <tulle.h>

#include <atomic>

namespace tulle::myth {
namespace {

bool is_normal(myth_mutex_t const& m) noexcept { return m.attr.type == MYTH_MUTEX_NORMAL; }

bool is_mutex_type(int type) noexcept {
    return type == MYTH_MUTEX_NORMAL || type == MYTH_MUTEX_ERRORCHECK ||
           type == MYTH_MUTEX_RECURSIVE;
}

// relaxed, both: only the caller's own number is compared with, and it wrote that itself.
std::uint64_t owner_of(myth_mutex_t& m) noexcept {
    return std::atomic_ref(m.owner).load(std::memory_order_relaxed);
}
void set_owner(myth_mutex_t& m, std::uint64_t owner) noexcept {
    std::atomic_ref(m.owner).store(owner, std::memory_order_relaxed);
}

// Of a mutex that is not normal and that the caller holds.
int lock_again(myth_mutex_t& m, int error_if_checking) noexcept {
    if (m.attr.type != MYTH_MUTEX_RECURSIVE) return error_if_checking;
    if (m.depth + 1 == 0) return EAGAIN;
    ++m.depth;
    return 0;
}

template <class Lock> int lock_by(myth_mutex_t* mutex, int error_if_checking, Lock lock) noexcept {
    if (mutex == nullptr || !is_mutex_type(mutex->attr.type)) return EINVAL;
    if (is_normal(*mutex)) return positive(lock(&mutex->lock));
    if (int const error = ensure_started()) return error;
    std::uint64_t const self = tulle_self_id();
    if (owner_of(*mutex) == self) return lock_again(*mutex, error_if_checking);
    int const error = lock(&mutex->lock);
    if (error != 0) return positive(error);
    set_owner(*mutex, self);
    mutex->depth = 1;
    return 0;
}

} // namespace

int ownership::give_up(myth_mutex_t& m) noexcept {
    if (is_normal(m)) return 0;
    m_owner = tulle_self_id();
    if (owner_of(m) != m_owner) return EPERM;
    m_depth = m.depth;
    set_owner(m, 0);
    return 0;
}

void ownership::take_back(myth_mutex_t& m) const noexcept {
    if (is_normal(m)) return;
    set_owner(m, m_owner);
    m.depth = m_depth;
}

} // namespace tulle::myth

using namespace tulle::myth;

int myth_mutex_init(myth_mutex_t* mutex, const myth_mutexattr_t* attr) {
    if (mutex == nullptr || (attr != nullptr && !is_mutex_type(attr->type))) return EINVAL;
    *mutex = MYTH_MUTEX_INITIALIZER;
    if (attr != nullptr) mutex->attr = *attr;
    return 0;
}

int myth_mutex_destroy(myth_mutex_t* mutex) {
    return mutex == nullptr ? EINVAL : positive(tulle_mutex_destroy(&mutex->lock));
}

int myth_mutex_lock(myth_mutex_t* mutex) {
    if (int const error = ensure_started()) return error;
    return lock_by(mutex, EDEADLK, [](tulle_mutex_t* m) { return tulle_mutex_lock(m); });
}

int myth_mutex_trylock(myth_mutex_t* mutex) {
    return lock_by(mutex, EBUSY, [](tulle_mutex_t* m) { return tulle_mutex_trylock(m); });
}

int myth_mutex_timedlock(myth_mutex_t* mutex, const struct timespec* abstime) {
    std::uint64_t timeout = 0;
    if (int const error = timeout_of(abstime, timeout)) return error;
    if (int const error = ensure_started()) return error;
    return lock_by(mutex, EDEADLK,
                   [timeout](tulle_mutex_t* m) { return tulle_mutex_timedlock(m, timeout); });
}

int myth_mutex_unlock(myth_mutex_t* mutex) {
    if (mutex == nullptr || !is_mutex_type(mutex->attr.type)) return EINVAL;
    if (is_normal(*mutex)) return positive(tulle_mutex_unlock(&mutex->lock));
    if (int const error = ensure_started()) return error;
    if (owner_of(*mutex) != tulle_self_id()) return EPERM;
    if (--mutex->depth != 0) return 0;
    set_owner(*mutex, 0);
    return positive(tulle_mutex_unlock(&mutex->lock));
}

int myth_mutexattr_init(myth_mutexattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->type = MYTH_MUTEX_DEFAULT;
    return 0;
}
int myth_mutexattr_destroy(myth_mutexattr_t* attr) { return attr == nullptr ? EINVAL : 0; }
int myth_mutexattr_gettype(const myth_mutexattr_t* attr, int* type) {
    if (any_null(attr, type)) return EINVAL;
    *type = attr->type;
    return 0;
}
int myth_mutexattr_settype(myth_mutexattr_t* attr, int type) {
    if (attr == nullptr || !is_mutex_type(type)) return EINVAL;
    attr->type = type;
    return 0;
}
