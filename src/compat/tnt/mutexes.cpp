// SPDX-License-Identifier: Apache-2.0
// Mutexes.
#include "compat/tnt/node_mutex.hpp"

#include <tnt.h>

namespace tulle::tnt {

namespace {

// Action(part) with what this node has of the mutex.
template <class Action> int with_part(number const* mutex, Action action) {
    if (mutex == nullptr) return EINVAL;
    return guarded([&] {
        number const name = resolve<managed_mutex>(mutex);
        if (!is_number(name)) return EINVAL;
        auto const part = node_mutex_of(name);
        return part != nullptr ? action(*part) : EINVAL;
    });
}

int lock_before(tnt_mutex_t const* mutex, std::int64_t deadline) {
    return with_part(mutex, [deadline](node_mutex& m) { return m.lock(caller(), deadline); });
}

bool is_type(int type) { return type >= TNT_MUTEX_NORMAL && type <= TNT_MUTEX_ERRORCHECK; }

} // namespace
} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_mutex_init(tnt_mutex_t* mutex) { return make<managed_mutex>(mutex); }
int tnt_mutex_init_with(tnt_mutex_t* mutex, const tnt_mutexattr_t* attributes) {
    int const type = attributes != nullptr ? attributes->type : TNT_MUTEX_DEFAULT;
    return is_type(type) ? make<managed_mutex>(mutex, type) : EINVAL;
}
int tnt_mutex_lock(const tnt_mutex_t* mutex) { return lock_before(mutex, k_never); }
int tnt_mutex_timedlock(const tnt_mutex_t* mutex, const struct timespec* until) {
    std::int64_t const deadline = deadline_of(until);
    return deadline < 0 ? EINVAL : lock_before(mutex, deadline);
}
int tnt_mutex_trylock(const tnt_mutex_t* mutex) {
    return with_part(mutex, [](node_mutex& m) { return m.try_lock(caller()); });
}
int tnt_mutex_unlock(const tnt_mutex_t* mutex) {
    return with_part(mutex, [](node_mutex& m) { return m.unlock(caller()); });
}
int tnt_mutex_destroy(const tnt_mutex_t* mutex) {
    return manage<managed_mutex>(mutex,
                                 [](managed_mutex& m, number name) { return m.destroy(name); });
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
    if (attributes == nullptr || !is_type(type)) return EINVAL;
    attributes->type = type;
    return 0;
}
int tnt_mutexattr_gettype(const tnt_mutexattr_t* attributes, int* type) {
    if (attributes == nullptr || type == nullptr) return EINVAL;
    *type = attributes->type;
    return 0;
}
