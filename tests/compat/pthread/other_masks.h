// SPDX-License-Identifier: Apache-2.0
// Waits with another mask than the thread's own, for a pipe into which nobody writes.
#pragma once

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/select.h>

static int s_pipe[2];
static sigset_t s_only_other; // the mask

static int suspends(void) { return sigsuspend(&s_only_other); }
static int polls(void) {
    struct pollfd asked = {s_pipe[0], POLLIN, 0};
    return ppoll(&asked, 1, NULL, &s_only_other);
}
static int selects(void) {
    fd_set in;
    FD_ZERO(&in);
    FD_SET(s_pipe[0], &in);
    return pselect(s_pipe[0] + 1, &in, NULL, NULL, NULL, &s_only_other);
}
