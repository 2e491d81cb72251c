// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/shared_mutex.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/kernel_lock.hpp"

namespace tulle::posix {

namespace {

int lock_in_libc(pthread_mutex_t* m, clockid_t clock, timespec const* until) noexcept {
    return until == nullptr ? TULLE_LIBC(pthread_mutex_lock)(m)
                            : TULLE_LIBC(pthread_mutex_clocklock)(m, clock, until);
}

bool is_refused_to_holder(pthread_mutex_t const* m) noexcept {
    constexpr int k_kind_bits = 3;
    return (m->__data.__kind & k_kind_bits) == PTHREAD_MUTEX_ERRORCHECK &&
           m->__data.__owner == own_number();
}

} // namespace

int lock_shared(pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (self() == nullptr) return lock_in_libc(m, clock, until);
    if (until != nullptr && !is_clock(clock)) return EINVAL;
    int const error = TULLE_LIBC(pthread_mutex_trylock)(m);
    if (error != EBUSY) return error;
    if (is_refused_to_holder(m)) return EDEADLK;
    if (until != nullptr && !is_time(*until)) return EINVAL;
    std::uint64_t const deadline = until == nullptr ? wait::k_never : deadline_at(clock, *until);
    return lock_of_libc(
        word_of(m->__data.__lock), deadline, [m] { return TULLE_LIBC(pthread_mutex_trylock)(m); },
        [m](timespec const* end) { return lock_in_libc(m, CLOCK_MONOTONIC, end); });
}

int unlock_shared(pthread_mutex_t* m) noexcept {
    futex_word& word = word_of(m->__data.__lock);
    int const error = TULLE_LIBC(pthread_mutex_unlock)(m);
    if (error == 0) futex_wake(word, 1); // its address alone: the mutex may be gone
    return error;
}

} // namespace tulle::posix
