// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"

#include <cerrno>

#include <atomic>
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

// A kernel with thousands of processors takes memory for the set of those to interrupt.
void interrupt_all(int command) noexcept {
    int const kept = errno;
    while (call(command) != 0) {
        TULLE_CHECK(errno == ENOMEM,
                    "membarrier failed with errno %d; was membarrier_register() asked first?",
                    errno);
        ::sched_yield();
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

void membarrier_heavy() noexcept { interrupt_all(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }
void membarrier_global_heavy() noexcept { interrupt_all(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

} // namespace tulle::os
