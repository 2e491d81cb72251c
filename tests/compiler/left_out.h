// SPDX-License-Identifier: Apache-2.0
// Which check of its program a recorder leaves out. With TULLE_LEFT_OUT_TO=N in the environment the
// program goes its way N times, each time in a child without another check; the parent prints the
// numbers of those whose child has not noticed, and ends.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// In a child the number of its check, else 0: none is left out.
static int choose_left_out(void) {
    char const* const last = getenv("TULLE_LEFT_OUT_TO");
    if (last == NULL) return 0;
    int const nowhere = open("/dev/null", O_WRONLY);
    for (int number = 1; number <= atoi(last); ++number) {
        pid_t const child = fork();
        if (child == 0) {
            dup2(nowhere, 1);
            dup2(nowhere, 2);
            return number;
        }
        int status = 0;
        if (nowhere < 0 || child < 0 || waitpid(child, &status, 0) != child) _exit(4);
        if (status == 0) dprintf(1, "%d\n", number);
    }
    _exit(0);
}
