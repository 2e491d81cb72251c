// SPDX-License-Identifier: Apache-2.0
//
// Takes membarrier(2) away from the calling process, as old kernels and sandboxes do. There is no
// way back: for processes of their own, before anything of the library has run.
#pragma once

#include "forbidden_call.hpp"

#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

inline void forbid_membarrier() {
    forbid_system_call(SYS_membarrier, ENOSYS);
    if (syscall(SYS_membarrier, 0, 0U, 0) == -1 && errno == ENOSYS) return;
    std::perror("membarrier");
    std::_Exit(99);
}
