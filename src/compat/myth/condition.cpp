// SPDX-License-Identifier: Apache-2.0
// Conditions, and the full/empty locks that are made of a mutex and two of them.
#include "compat/myth/library.hpp"
#include "compat/myth/mutex.hpp"
#include "compat/myth/time.hpp"

namespace tulle::myth {
namespace {

int wait_for(myth_cond_t* cond, myth_mutex_t* mutex, std::uint64_t timeout) noexcept {
    if (any_null(cond, mutex)) return EINVAL;
    if (int const error = ensure_started()) return error;
    ownership kept;
    if (int const error = kept.give_up(*mutex)) return error;
    int const error = tulle_cond_timedwait(&cond->cond, &mutex->lock, timeout);
    if (error != -EPERM) kept.take_back(*mutex);
    return positive(error);
}

// Read without the mutex by myth_felock_status.
// relaxed, both: it is changed under the mutex.
int status_of(myth_felock_t const& fe) noexcept {
    return __atomic_load_n(&fe.status, __ATOMIC_RELAXED);
}
void set_status(myth_felock_t& fe, int status) noexcept {
    __atomic_store_n(&fe.status, status, __ATOMIC_RELAXED);
}
bool is_status(int status) noexcept { return status == 0 || status == 1; }

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_cond_init(myth_cond_t* cond, const myth_condattr_t* attr) {
    if (cond == nullptr) return EINVAL;
    *cond = MYTH_COND_INITIALIZER;
    if (attr != nullptr) cond->attr = *attr;
    return 0;
}
int myth_cond_destroy(myth_cond_t* cond) {
    return cond == nullptr ? EINVAL : positive(tulle_cond_destroy(&cond->cond));
}
int myth_cond_signal(myth_cond_t* cond) {
    return cond == nullptr ? EINVAL : positive(tulle_cond_signal(&cond->cond));
}
int myth_cond_broadcast(myth_cond_t* cond) {
    return cond == nullptr ? EINVAL : positive(tulle_cond_broadcast(&cond->cond));
}
int myth_cond_wait(myth_cond_t* cond, myth_mutex_t* mutex) {
    return wait_for(cond, mutex, TULLE_FOREVER);
}
int myth_cond_timedwait(myth_cond_t* cond, myth_mutex_t* mutex, const struct timespec* abstime) {
    std::uint64_t timeout = 0;
    if (int const error = timeout_of(abstime, timeout)) return error;
    return wait_for(cond, mutex, timeout);
}
int myth_condattr_init(myth_condattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->unused = nullptr;
    return 0;
}
int myth_condattr_destroy(myth_condattr_t* attr) { return attr == nullptr ? EINVAL : 0; }

// --- full/empty locks ----------------------------------------------------------------------------

int myth_felock_init(myth_felock_t* fe, const myth_felockattr_t* attr) {
    if (fe == nullptr) return EINVAL;
    *fe = {{MYTH_MUTEX_INITIALIZER},
           {MYTH_COND_INITIALIZER, MYTH_COND_INITIALIZER},
           0,
           {attr != nullptr ? attr->unused : nullptr}};
    return 0;
}
int myth_felock_destroy(myth_felock_t* fe) {
    if (fe == nullptr) return EINVAL;
    if (int const error = myth_cond_destroy(&fe->cond[0])) return error;
    if (int const error = myth_cond_destroy(&fe->cond[1])) return error;
    return myth_mutex_destroy(fe->mutex);
}
int myth_felock_lock(myth_felock_t* fe) {
    return fe == nullptr ? EINVAL : myth_mutex_lock(fe->mutex);
}
int myth_felock_unlock(myth_felock_t* fe) {
    return fe == nullptr ? EINVAL : myth_mutex_unlock(fe->mutex);
}
int myth_felock_wait_and_lock(myth_felock_t* fe, int status_to_wait) {
    if (fe == nullptr || !is_status(status_to_wait)) return EINVAL;
    if (int const error = myth_mutex_lock(fe->mutex)) return error;
    while (status_of(*fe) != status_to_wait)
        if (int const error = myth_cond_wait(&fe->cond[status_to_wait], fe->mutex)) return error;
    return 0;
}
int myth_felock_mark_and_signal(myth_felock_t* fe, int status_to_signal) {
    if (fe == nullptr || !is_status(status_to_signal)) return EINVAL;
    set_status(*fe, status_to_signal);
    static_cast<void>(myth_cond_signal(&fe->cond[status_to_signal]));
    return myth_mutex_unlock(fe->mutex);
}
int myth_felock_status(myth_felock_t* fe) { return fe == nullptr ? EINVAL : status_of(*fe); }
int myth_felockattr_init(myth_felockattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->unused = nullptr;
    return 0;
}
int myth_felockattr_destroy(myth_felockattr_t* attr) { return attr == nullptr ? EINVAL : 0; }
