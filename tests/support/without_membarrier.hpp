// SPDX-License-Identifier: Apache-2.0
//
// Takes membarrier(2) away from the calling process, as old kernels and sandboxes do. There is no way back: for processes of their own,
// before anything of the library has run.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

inline void forbid_membarrier() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const program{sizeof filter / sizeof *filter, filter};
    bool const done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (done && syscall(SYS_membarrier, 0, 0U, 0) == -1 && errno == ENOSYS) return;
    std::perror("seccomp");
    std::_Exit(99);
}
