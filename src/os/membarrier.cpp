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

// Set once; whoever depends on it was started after the registration. relaxed for that reason.
std::atomic<bool> g_registered{false};

long call(int command) noexcept { return ::syscall(SYS_membarrier, command, 0U, 0); }

} // namespace

bool membarrier_register() noexcept {
    int const kept = errno;
    bool const registered = call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    errno = kept;
    if (registered) g_registered.store(true, std::memory_order_relaxed); // relaxed: see above
    return registered;
}

bool membarrier_available() noexcept { return g_registered.load(std::memory_order_relaxed); } // relaxed: see above

// A kernel with thousands of processors takes memory for the set of those to interrupt.
void membarrier_heavy() noexcept {
    int const kept = errno;
    while (call(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        TULLE_CHECK(errno == ENOMEM, "membarrier failed with errno %d; was membarrier_register() asked first?", errno);
        ::sched_yield();
    }
    errno = kept;
}

} // namespace tulle::os
