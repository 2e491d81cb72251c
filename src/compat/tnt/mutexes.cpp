// SPDX-License-Identifier: Apache-2.0
// Mutexes.
#include "compat/tnt/managed.hpp"

#include <tnt.h>

namespace tulle::tnt {

namespace {

struct managed_mutex {
    explicit managed_mutex(int of = TNT_MUTEX_DEFAULT) : type(of) {}
    int const type;
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable opened;
    number owner = 0;   // 0: it is not locked
    unsigned again = 0; // how often its owner has locked it besides
    bool is_gone = false;
};

// By its owner. -1: it has to wait, for ever if the mutex is of the default type.
int lock_again(managed_mutex& m, bool may_wait) {
    if (m.type == TNT_MUTEX_ERRORCHECK) return may_wait ? EDEADLK : EBUSY;
    if (m.type != TNT_MUTEX_RECURSIVE) return -1;
    ++m.again;
    return 0;
}

int lock(managed_mutex& m, number by, std::int64_t deadline) {
    std::unique_lock held(m.lock);
    if (m.owner == by)
        if (int const done = lock_again(m, true); done >= 0) return done;
    if (!wait_until(m.opened, held, deadline, [&] { return m.owner == 0 || m.is_gone; }))
        return ETIMEDOUT;
    if (m.is_gone) return EINVAL;
    m.owner = by;
    return 0;
}
int try_lock(managed_mutex& m, number by) {
    std::lock_guard const held(m.lock);
    if (m.owner == by)
        if (int const done = lock_again(m, false); done >= 0) return done;
    if (m.owner != 0) return EBUSY;
    m.owner = by;
    return 0;
}
int unlock(managed_mutex& m, number by) {
    std::lock_guard const held(m.lock);
    if (m.owner == 0 || (m.type != TNT_MUTEX_DEFAULT && m.owner != by)) return EPERM;
    if (m.again != 0) {
        --m.again;
        return 0;
    }
    m.owner = 0;
    m.opened.notify_one();
    return 0;
}
int destroy(managed_mutex& m, number name) {
    std::lock_guard const held(m.lock);
    if (m.owner != 0) return EBUSY;
    m.is_gone = true;
    m.opened.notify_all();
    registry_of<managed_mutex>().remove(name);
    return 0;
}

int lock_before(tnt_mutex_t const* mutex, std::int64_t deadline) {
    return manage<managed_mutex>(
        mutex,
        [](managed_mutex& m, number, number by, std::int64_t until) { return lock(m, by, until); },
        caller(), deadline);
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_mutex_init(tnt_mutex_t* mutex) { return make<managed_mutex>(mutex); }
int tnt_mutex_init_with(tnt_mutex_t* mutex, const tnt_mutexattr_t* attributes) {
    return make<managed_mutex>(mutex, attributes != nullptr ? attributes->type : TNT_MUTEX_DEFAULT);
}
int tnt_mutex_lock(const tnt_mutex_t* mutex) { return lock_before(mutex, k_never); }
int tnt_mutex_timedlock(const tnt_mutex_t* mutex, const struct timespec* until) {
    std::int64_t const deadline = deadline_of(until);
    return deadline < 0 ? EINVAL : lock_before(mutex, deadline);
}
int tnt_mutex_trylock(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(
        mutex, [](managed_mutex& m, number, number by) { return try_lock(m, by); }, caller());
}
int tnt_mutex_unlock(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(
        mutex, [](managed_mutex& m, number, number by) { return unlock(m, by); }, caller());
}
int tnt_mutex_destroy(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex,
                                 [](managed_mutex& m, number name) { return destroy(m, name); });
}

int tnt_mutexattr_init(tnt_mutexattr_t* attributes) {
    if (attributes == nullptr) return EINVAL;
    attributes->type = TNT_MUTEX_DEFAULT;
    return 0;
}
int tnt_mutexattr_destroy(tnt_mutexattr_t* attributes) {
    return attributes == nullptr ? EINVAL : 0;
}
int tnt_mutexattr_settype(tnt_mutexattr_t* attributes, int type) {
    if (attributes == nullptr || type < TNT_MUTEX_NORMAL || type > TNT_MUTEX_ERRORCHECK)
        return EINVAL;
    attributes->type = type;
    return 0;
}
int tnt_mutexattr_gettype(const tnt_mutexattr_t* attributes, int* type) {
    if (attributes == nullptr || type == nullptr) return EINVAL;
    *type = attributes->type;
    return 0;
}
