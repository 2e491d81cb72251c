/* SPDX-License-Identifier: Apache-2.0 */
/* Places in C, alone: everything works at the one place that there is. */
#include <tulle.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static tulle_signal_t g_done;
static _Atomic uint64_t g_sum; // two of them may run at once

static void add(uint64_t a, uint64_t b) {
    g_sum = a + b;
    tulle_signal_notify_at(tulle_here(), &g_done);
}

int main(void) {
    expect(tulle_place_count() == 1, "tulle_place_count() == 1");
    expect(tulle_here() == 0, "tulle_here() == 0");
    expect(tulle_signal_init(&g_done, 1) == 0, "tulle_signal_init(&g_done, 1) == 0");
    tulle_ilet_t const sum = {&add, 40, 2};
    expect(tulle_start_at(0, sum) == 0, "tulle_start_at(0, sum) == 0");
    expect(tulle_signal_wait(&g_done) == 0, "tulle_signal_wait(&g_done) == 0");
    expect(g_sum == 42, "g_sum == 42");
    expect(tulle_start_at(1, sum) == -EINVAL, "tulle_start_at(1, sum) == -EINVAL");

    char from[100];
    char to[100] = {0};
    memset(from, 7, sizeof from);
    expect(tulle_signal_add_signalers(&g_done, 2) == 0,
           "tulle_signal_add_signalers(&g_done, 2) == 0");
    expect(tulle_push(0, to, from, sizeof from, &sum, &sum) == 0,
           "tulle_push(0, to, from, sizeof from, &sum, &sum) == 0");
    expect(tulle_signal_wait(&g_done) == 0, "tulle_signal_wait(&g_done) == 0");
    expect(memcmp(from, to, sizeof from) == 0, "memcmp(from, to, sizeof from) == 0");
    memset(from, 8, sizeof from);
    expect(tulle_pull(to, 0, from, sizeof from) == 0, "tulle_pull(to, 0, from, sizeof from) == 0");
    expect(memcmp(from, to, sizeof from) == 0, "memcmp(from, to, sizeof from) == 0");
    return 0;
}
