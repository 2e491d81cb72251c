/* SPDX-License-Identifier: Apache-2.0 */
/* The number of workers in C11: changed while threads run, errors as values. */
#include <tulle.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 200

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void* change(void* number) {
    int const wanted = *(int*)number;
    expect(tulle_set_workers(wanted) == 0, "change by a thread");
    tulle_yield();
    return number;
}

int main(void) {
    tulle_options const two = {2, 0};
    int numbers[THREADS];
    tulle_thread* threads[THREADS];
    expect(tulle_set_option("max_workers", "3") == 0 &&
               tulle_set_option("max_substitutes", "5") == 0,
           "options");
    expect(tulle_init(&two) == 0, "init");
    expect(tulle_max_workers() == 3, "maximum");
    expect(tulle_worker_slots() == 3 + 5,
           "indices of workers and of their substitutes are below it");
    expect(tulle_worker_count() == 2, "workers at the start");
    expect(tulle_set_workers(3) == 0 && tulle_worker_count() == 3, "more");
    expect(tulle_set_workers(4) == -EINVAL && tulle_set_workers(-1) == -EINVAL &&
               tulle_worker_count() == 3,
           "nonsense");
    for (int i = 0; i < THREADS; ++i) {
        void* argument = &numbers[i];
        numbers[i] = 1 + i % 3;
        expect(tulle_spawn(&threads[i], NULL, change, argument) == 0, "spawn");
    }
    for (int i = 0; i < THREADS; ++i) {
        void* result = NULL;
        expect(tulle_thread_join(threads[i], &result) == 0 && result == &numbers[i], "join");
    }
    expect(tulle_set_workers(0) == 0 && tulle_worker_count() >= 1 && tulle_worker_count() <= 3,
           "as the machine says");
    expect(tulle_finalize() == 0, "finalize");
    return 0;
}
