// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"

#include <cerrno>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace tulle::os {
namespace {

long call(int command) noexcept
{
    return ::syscall(SYS_membarrier, command, 0U, 0);
}

} // namespace

bool membarrier_register() noexcept
{
    int const kept = errno;
    bool const registered = call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    errno = kept;
    return registered;
}

void membarrier_heavy() noexcept
{
    TULLE_CHECK(call(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0,
                "membarrier failed with errno %d; was membarrier_register() asked first?", errno);
}

} // namespace tulle::os
