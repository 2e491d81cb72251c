/* SPDX-License-Identifier: Apache-2.0 */
/* A program that returns from main while a qthread computes for more than a second, and others have
 * not begun: with one worker, and with two. A process that it forks ends at once. */
#define _GNU_SOURCE
#include "check.h"

#include <qthread/qthread.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QTHREADS = 4 };

static int ended; /* qthreads; atomic */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static aligned_t compute(void* argument) {
    double const until = seconds() + *(double const*)argument;
    while (seconds() < until) continue;
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
    return 0;
}

/* Called after what qthread_initialize has registered. */
static void look(void) {
    if (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) != QTHREADS) _exit(2);
}

static int run(char const* shepherds) {
    static double const for_long = 1.3;
    static double const shortly = 0.01;
    int status = 0;
    CHECK(atexit(&look) == 0 && setenv("QT_NUM_SHEPHERDS", shepherds, 1) == 0);
    CHECK(qthread_init(0) == QTHREAD_SUCCESS && qthread_num_shepherds() == shepherds[0] - '0');
    CHECK(qthread_fork(&compute, &for_long, NULL) == QTHREAD_SUCCESS);
    for (int k = 1; k < QTHREADS; ++k)
        CHECK(qthread_fork(&compute, &shortly, NULL) == QTHREAD_SUCCESS);
    double const before = seconds();
    pid_t const child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        __atomic_store_n(&ended, QTHREADS, __ATOMIC_SEQ_CST);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(seconds() - before < 1);
    return 0;
}

int main(void) {
    int status = 0;
    pid_t const child = fork();
    CHECK(child >= 0);
    if (child == 0) return run("1");
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return run("2");
}
