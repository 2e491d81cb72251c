// SPDX-License-Identifier: Apache-2.0
#include "os/careful_read.hpp"

#include <sys/uio.h>
#include <unistd.h>

namespace tulle::os {

std::optional<std::uint64_t> careful_read(void const* address) noexcept {
    std::uint64_t word = 0;
    iovec const here{&word, sizeof word};
    iovec const there{const_cast<void*>(address), sizeof word};
    if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) !=
        static_cast<ssize_t>(sizeof word)) {
        return std::nullopt;
    }
    return word;
}

} // namespace tulle::os
