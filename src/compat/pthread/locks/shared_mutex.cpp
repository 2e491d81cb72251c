// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/shared_mutex.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/lock_wait.hpp"
#include "os/clock.hpp"

#include <algorithm>

namespace tulle::posix {

namespace {

constexpr int k_most_in_kernel = 8;

// Of the waits in the kernel, of all mutexes. relaxed: nothing is read on its strength.
class wait_in_kernel {
public:
    wait_in_kernel() noexcept
        : m_may(s_count.fetch_add(1, std::memory_order_relaxed) < k_most_in_kernel) {}
    wait_in_kernel(wait_in_kernel const&) = delete;
    wait_in_kernel& operator=(wait_in_kernel const&) = delete;
    ~wait_in_kernel() { s_count.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] explicit operator bool() const noexcept { return m_may; }

private:
    static constinit std::atomic<int> s_count;

    bool m_may;
};
constinit std::atomic<int> wait_in_kernel::s_count{0};

int lock_in_libc(pthread_mutex_t* m, clockid_t clock, timespec const* until) noexcept {
    return until == nullptr ? TULLE_LIBC(pthread_mutex_lock)(m)
                            : TULLE_LIBC(pthread_mutex_clocklock)(m, clock, until);
}

bool is_refused_to_holder(pthread_mutex_t const* m) noexcept {
    constexpr int k_kind_bits = 3;
    return (m->__data.__kind & k_kind_bits) == PTHREAD_MUTEX_ERRORCHECK &&
           m->__data.__owner == own_number();
}

int lock_by_looking(pthread_mutex_t* m, std::uint64_t deadline) {
    constexpr std::uint64_t k_first_ns = 20'000, k_longest_ns = 5'000'000;
    futex_word& word = word_of(m->__data.__lock);
    for (std::uint64_t pause = k_first_ns;; pause = std::min(2 * pause, k_longest_ns)) {
        std::uint32_t const seen = word.load(std::memory_order_relaxed); // relaxed: it is tried
        int const error = TULLE_LIBC(pthread_mutex_trylock)(m);
        if (error != EBUSY) return error;
        std::uint64_t const now = os::monotonic_ns();
        if (now >= deadline) return ETIMEDOUT;
        if (seen != 0) wait_for_lock(word, seen, std::min(now + pause, deadline));
    }
}

} // namespace

int lock_shared(pthread_mutex_t* m, clockid_t clock, timespec const* until) {
    if (self() == nullptr) return lock_in_libc(m, clock, until);
    int const error = TULLE_LIBC(pthread_mutex_trylock)(m);
    if (error != EBUSY) return error;
    if (is_refused_to_holder(m)) return EDEADLK;
    if (until != nullptr && (!is_clock(clock) || !is_time(*until))) return EINVAL;
    if (wait_in_kernel const here; here) return lock_in_libc(m, clock, until);
    return lock_by_looking(m, until == nullptr ? wait::k_never : deadline_at(clock, *until));
}

int unlock_shared(pthread_mutex_t* m) noexcept {
    futex_word& word = word_of(m->__data.__lock);
    int const error = TULLE_LIBC(pthread_mutex_unlock)(m);
    if (error == 0) futex_wake(word, 1); // its address alone: the mutex may be gone
    return error;
}

} // namespace tulle::posix
