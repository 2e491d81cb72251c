// SPDX-License-Identifier: Apache-2.0
#include "compat/myth/library.hpp"
#include "compat/myth/time.hpp"

namespace tulle::myth {
namespace {

bool is_kind(int kind) noexcept {
    return kind >= MYTH_RWLOCK_PREFER_READER && kind <= MYTH_RWLOCK_PREFER_WRITER_NONRECURSIVE;
}

int wait_for_lock(myth_rwlock_t* l, int (*lock)(tulle_rwlock_t*)) noexcept {
    if (l == nullptr) return EINVAL;
    if (int const error = ensure_started()) return error;
    return positive(lock(&l->lock));
}

int wait_for_lock_until(myth_rwlock_t* l, timespec const* at,
                        int (*lock)(tulle_rwlock_t*, uint64_t)) noexcept {
    std::uint64_t timeout = 0;
    if (l == nullptr) return EINVAL;
    if (int const error = timeout_of(at, timeout)) return error;
    if (int const error = ensure_started()) return error;
    return positive(lock(&l->lock, timeout));
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_rwlock_init(myth_rwlock_t* rwlock, const myth_rwlockattr_t* attr) {
    if (rwlock == nullptr || (attr != nullptr && !is_kind(attr->kind))) return EINVAL;
    *rwlock = MYTH_RWLOCK_INITIALIZER;
    if (attr != nullptr) rwlock->attr = *attr;
    return 0;
}
int myth_rwlock_destroy(myth_rwlock_t* rwlock) {
    return rwlock == nullptr ? EINVAL : positive(tulle_rwlock_destroy(&rwlock->lock));
}
int myth_rwlock_rdlock(myth_rwlock_t* rwlock) {
    return wait_for_lock(rwlock, &tulle_rwlock_rdlock);
}
int myth_rwlock_tryrdlock(myth_rwlock_t* rwlock) {
    return rwlock == nullptr ? EINVAL : positive(tulle_rwlock_tryrdlock(&rwlock->lock));
}
int myth_rwlock_timedrdlock(myth_rwlock_t* rwlock, const struct timespec* abstime) {
    return wait_for_lock_until(rwlock, abstime, &tulle_rwlock_timedrdlock);
}
int myth_rwlock_wrlock(myth_rwlock_t* rwlock) {
    return wait_for_lock(rwlock, &tulle_rwlock_wrlock);
}
int myth_rwlock_trywrlock(myth_rwlock_t* rwlock) {
    return rwlock == nullptr ? EINVAL : positive(tulle_rwlock_trywrlock(&rwlock->lock));
}
int myth_rwlock_timedwrlock(myth_rwlock_t* rwlock, const struct timespec* abstime) {
    return wait_for_lock_until(rwlock, abstime, &tulle_rwlock_timedwrlock);
}
int myth_rwlock_unlock(myth_rwlock_t* rwlock) {
    return rwlock == nullptr ? EINVAL : positive(tulle_rwlock_unlock(&rwlock->lock));
}

int myth_rwlockattr_init(myth_rwlockattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->kind = MYTH_RWLOCK_DEFAULT;
    return 0;
}
int myth_rwlockattr_destroy(myth_rwlockattr_t* attr) { return attr == nullptr ? EINVAL : 0; }
int myth_rwlockattr_getkind(const myth_rwlockattr_t* attr, int* pref) {
    if (any_null(attr, pref)) return EINVAL;
    *pref = attr->kind;
    return 0;
}
int myth_rwlockattr_setkind(myth_rwlockattr_t* attr, int pref) {
    if (attr == nullptr || !is_kind(pref)) return EINVAL;
    attr->kind = pref;
    return 0;
}
