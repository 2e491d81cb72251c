// SPDX-License-Identifier: Apache-2.0
// Locks that many readers or one writer hold. Readers that come later do not overtake a writer that
// waits.
#include "compat/tnt/managed.hpp"

#include <tnt.h>

namespace tulle::tnt {

namespace {

struct managed_rwlock {
    tulle::mutex lock; // guards the next ones
    tulle::condition_variable changed;
    unsigned readers = 0;
    unsigned waiting_writers = 0;
    bool is_written = false;
};

int read_lock(managed_rwlock& l, std::int64_t deadline) {
    std::unique_lock held(l.lock);
    if (!wait_until(l.changed, held, deadline,
                    [&l] { return !l.is_written && l.waiting_writers == 0; }))
        return ETIMEDOUT;
    ++l.readers;
    return 0;
}
int write_lock(managed_rwlock& l, std::int64_t deadline) {
    std::unique_lock held(l.lock);
    ++l.waiting_writers;
    bool const is_free =
        wait_until(l.changed, held, deadline, [&l] { return !l.is_written && l.readers == 0; });
    --l.waiting_writers;
    l.is_written = l.is_written || is_free;
    if (!is_free) l.changed.notify_all(); // readers may have waited for it alone
    return is_free ? 0 : ETIMEDOUT;
}
int try_read_lock(managed_rwlock& l) {
    std::lock_guard const held(l.lock);
    if (l.is_written || l.waiting_writers != 0) return EBUSY;
    ++l.readers;
    return 0;
}
int try_write_lock(managed_rwlock& l) {
    std::lock_guard const held(l.lock);
    if (l.is_written || l.readers != 0) return EBUSY;
    l.is_written = true;
    return 0;
}
int unlock(managed_rwlock& l) {
    std::lock_guard const held(l.lock);
    if (!l.is_written && l.readers == 0) return EPERM;
    if (!std::exchange(l.is_written, false)) --l.readers;
    if (l.readers == 0) l.changed.notify_all();
    return 0;
}
int destroy(managed_rwlock& l, number name) {
    std::lock_guard const held(l.lock);
    if (l.is_written || l.readers != 0 || l.waiting_writers != 0) return EBUSY;
    registry_of<managed_rwlock>().remove(name);
    return 0;
}

int read_before(tnt_rwlock_t const* lock, std::int64_t deadline) {
    if (deadline < 0) return EINVAL;
    return manage<managed_rwlock>(
        lock, [](managed_rwlock& l, number, std::int64_t until) { return read_lock(l, until); },
        deadline);
}
int write_before(tnt_rwlock_t const* lock, std::int64_t deadline) {
    if (deadline < 0) return EINVAL;
    return manage<managed_rwlock>(
        lock, [](managed_rwlock& l, number, std::int64_t until) { return write_lock(l, until); },
        deadline);
}

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_rwlock_init(tnt_rwlock_t* lock) { return make<managed_rwlock>(lock); }
int tnt_rwlock_rdlock(const tnt_rwlock_t* lock) { return read_before(lock, k_never); }
int tnt_rwlock_wrlock(const tnt_rwlock_t* lock) { return write_before(lock, k_never); }
int tnt_rwlock_timedrdlock(const tnt_rwlock_t* lock, const struct timespec* until) {
    return read_before(lock, deadline_of(until));
}
int tnt_rwlock_timedwrlock(const tnt_rwlock_t* lock, const struct timespec* until) {
    return write_before(lock, deadline_of(until));
}
int tnt_rwlock_tryrdlock(const tnt_rwlock_t* lock) {
    return manage<managed_rwlock>(lock, [](managed_rwlock& l, number) { return try_read_lock(l); });
}
int tnt_rwlock_trywrlock(const tnt_rwlock_t* lock) {
    return manage<managed_rwlock>(lock,
                                  [](managed_rwlock& l, number) { return try_write_lock(l); });
}
int tnt_rwlock_unlock(const tnt_rwlock_t* lock) {
    return manage<managed_rwlock>(lock, [](managed_rwlock& l, number) { return unlock(l); });
}
int tnt_rwlock_destroy(const tnt_rwlock_t* lock) {
    return manage<managed_rwlock>(lock,
                                  [](managed_rwlock& l, number name) { return destroy(l, name); });
}
