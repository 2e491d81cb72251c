// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <ctime>

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace tulle::os {
namespace {

// It is set once; a thread that depends on it was started after the registration. relaxed for that
// reason.
std::atomic<bool> g_registered{false};
std::atomic<bool> g_registered_global{false};

long call(int command) noexcept { return ::syscall(SYS_membarrier, command, 0U, 0); }

bool register_for(int command, std::atomic<bool>& registered) noexcept {
    int const kept = errno;
    bool const is_there = call(command) == 0;
    errno = kept;
    if (is_there) registered.store(true, std::memory_order_relaxed); // relaxed: see above
    return is_there;
}

// A kernel with thousands of processors takes memory for the set of those to interrupt. False: the
// call is refused.
bool interrupt_all(int command) noexcept {
    while (call(command) != 0) {
        if (errno != ENOMEM) return false;
        ::sched_yield();
    }
    return true;
}

// Where the call is refused after the registration, as by a seccomp filter that the program has
// installed since: the caller runs on one processor after the other, and whoever has run there is
// scheduled out, which is a full fence. False: that is refused, too, or one of them is, which may
// be offline, or another thread may run there all the same.
bool visit_all_processors() noexcept {
    constexpr std::size_t k_most = 8192; // of a kernel
    using processors = std::array<unsigned long, k_most / (8 * sizeof(unsigned long))>;
    constexpr std::size_t k_bits = 8 * sizeof(unsigned long);
    processors before{};
    auto const set = [](processors const& to) {
        return ::sched_setaffinity(0, sizeof to, reinterpret_cast<cpu_set_t const*>(to.data())) ==
               0;
    };
    if (::sched_getaffinity(0, sizeof before, reinterpret_cast<cpu_set_t*>(before.data())) != 0)
        return false;
    bool has_visited_all = true;
    std::size_t known = static_cast<std::size_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L));
    for (std::size_t k = known; k != k_most; ++k) // their numbers may leave some out
        if ((before[k / k_bits] >> k % k_bits & 1U) != 0) known = k + 1;
    for (std::size_t k = 0; k != std::min(known, k_most); ++k) {
        processors one{};
        one[k / k_bits] = 1UL << k % k_bits;
        has_visited_all = set(one) && has_visited_all;
    }
    return set(before) && has_visited_all;
}

// The last resort. What a processor had begun when this was called has long been done by then, in
// the order of the program; of one that has been scheduled out that is sure.
void outlast_all_processors() noexcept {
    timespec left{0, 1'000'000};
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

// relaxed: see above
void fence_all(int command, std::atomic<bool> const& registered) noexcept {
    int const kept = errno;
    if (!interrupt_all(command)) {
        TULLE_CHECK(registered.load(std::memory_order_relaxed),
                    "membarrier failed with errno %d; was membarrier_register() asked first?",
                    errno);
        std::atomic_thread_fence(std::memory_order_seq_cst); // the caller's own, of all ways below
        if (!visit_all_processors()) outlast_all_processors();
        std::atomic_thread_fence(std::memory_order_seq_cst); // likewise
    }
    errno = kept;
}

} // namespace

bool membarrier_register() noexcept {
    return register_for(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, g_registered);
}
bool membarrier_register_global() noexcept {
    return register_for(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, g_registered_global);
}

// relaxed: see above
bool membarrier_available() noexcept { return g_registered.load(std::memory_order_relaxed); }

// relaxed: see above
bool membarrier_global_available() noexcept {
    return g_registered_global.load(std::memory_order_relaxed);
}

void membarrier_heavy() noexcept { fence_all(MEMBARRIER_CMD_PRIVATE_EXPEDITED, g_registered); }
void membarrier_global_heavy() noexcept {
    fence_all(MEMBARRIER_CMD_GLOBAL_EXPEDITED, g_registered_global);
}

} // namespace tulle::os
