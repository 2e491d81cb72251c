// SPDX-License-Identifier: Apache-2.0
// What cases of signals share.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void handle_by(void (*handler)(int), int number, int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (sigaction(number, &action, NULL) != 0) abort();
}
