// SPDX-License-Identifier: Apache-2.0
// A lock that needs no run time and is one int, as programs see it.
#include "compat/myth/library.hpp"

#include <tulle/detail/cpu_pause.hpp>
#include <tulle/this_thread.hpp>

namespace tulle::myth {
namespace {

constexpr int k_tries_per_yield = 64;

// acquire pairs with the release of unlock
bool try_spin(myth_spinlock_t* l) noexcept {
    return __atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE) == 0;
}
// relaxed: a hint
bool looks_held(myth_spinlock_t const* l) noexcept {
    return __atomic_load_n(&l->locked, __ATOMIC_RELAXED) != 0;
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_spin_init(myth_spinlock_t* lock) {
    if (lock == nullptr) return EINVAL;
    __atomic_store_n(&lock->locked, 0, __ATOMIC_RELAXED); // relaxed: nobody else uses it yet
    return 0;
}
int myth_spin_destroy(myth_spinlock_t* lock) { return lock == nullptr ? EINVAL : 0; }

int myth_spin_lock(myth_spinlock_t* lock) {
    if (lock == nullptr) return EINVAL;
    for (int tries = 1; looks_held(lock) || !try_spin(lock); ++tries) {
        if (tries % k_tries_per_yield == 0)
            tulle::this_thread::yield();
        else
            tulle::detail::cpu_pause();
    }
    return 0;
}

int myth_spin_trylock(myth_spinlock_t* lock) {
    return lock != nullptr && !looks_held(lock) && try_spin(lock) ? 1 : 0;
}

int myth_spin_unlock(myth_spinlock_t* lock) {
    if (lock == nullptr) return EINVAL;
    __atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE); // pairs with try_spin
    return 0;
}
