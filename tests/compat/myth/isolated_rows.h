/* SPDX-License-Identifier: Apache-2.0 */
/* Runs rows of calls, each in a process of its own, at four times of the library's life. */
#ifndef TULLE_TESTS_COMPAT_MYTH_ISOLATED_ROWS_H
#define TULLE_TESTS_COMPAT_MYTH_ISOLATED_ROWS_H

#define _GNU_SOURCE
#include <myth/myth.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
    const char* text;
    void (*call)(void);
    int ends_its_thread;
};

enum moment { BEFORE_THE_START, AFTER_THE_START, IN_A_THREAD, AFTER_THE_END, MOMENTS };

static void* call_in_thread(void* row) {
    ((const struct row*)row)->call();
    return NULL;
}

static void run_at(const struct row* r, enum moment when) {
    if (when != BEFORE_THE_START && myth_init() != 1) _exit(3);
    if (when == AFTER_THE_END) myth_fini();
    if (when == IN_A_THREAD) {
        myth_thread_t const t = myth_create(&call_in_thread, (void*)(uintptr_t)r);
        if (myth_join(t, NULL) != 0) _exit(4);
    } else {
        r->call();
    }
    _exit(0);
}

/* Whether it ends as it should: by itself, or aborted where it is said to end the program. */
static int ends_well(const struct row* r, enum moment when) {
    int status = 0;
    pid_t const child = fork();
    if (child == 0) {
        if (r->ends_its_thread && freopen("/dev/null", "w", stderr) == NULL) _exit(5);
        alarm(20);
        run_at(r, when);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return 0;
    if (r->ends_its_thread && when != IN_A_THREAD)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run_rows(const struct row* rows, size_t count) {
    int failed = 0;
    setenv("MYTH_NUM_WORKERS", "2", 1);
    for (size_t k = 0; k < count; ++k)
        for (int when = 0; when < MOMENTS; ++when) {
            if (ends_well(&rows[k], (enum moment)when)) continue;
            fprintf(stderr, "%s does not end well (moment %d)\n", rows[k].text, when);
            failed = 1;
        }
    return failed || count == 0;
}

#endif
