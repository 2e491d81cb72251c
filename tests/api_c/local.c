/* SPDX-License-Identifier: Apache-2.0
 *
 * Values for each thread and for each worker, through the C interface. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static tulle_key key;
static long freed;

static void free_value(void* value) {
    freed += *(long*)value;
    free(value);
}

static void* use_key(void* argument) {
    long* value = malloc(sizeof *value);
    CHECK(value != NULL && tulle_get_specific(key) == NULL);
    *value = *(long*)argument;
    CHECK(tulle_set_specific(key, value) == 0);
    CHECK(tulle_yield() == 0);
    CHECK(tulle_get_specific(key) == value);
    return NULL;
}

static void keys(void) {
    long numbers[] = {1, 2, 3};
    CHECK(tulle_key_create(NULL, NULL) == -EINVAL);
    CHECK(tulle_key_create(&key, free_value) == 0);
    for (int k = 0; k < 3; ++k) {
        tulle_thread* thread = NULL;
        CHECK(tulle_spawn(&thread, NULL, use_key, &numbers[k]) == 0);
        CHECK(tulle_thread_join(thread, NULL) == 0);
    }
    CHECK(freed == 6);
    CHECK(tulle_set_specific(key, &key) == 0);
    CHECK(tulle_get_specific(key) == &key);
    CHECK(tulle_key_delete(key) == 0);
    CHECK(tulle_key_delete(key) == -EINVAL);
    CHECK(tulle_set_specific(key, &key) == -EINVAL);
    CHECK(tulle_get_specific(key) == NULL);
    CHECK(tulle_key_delete(0) == -EINVAL);
}

static int destroyed;
static tulle_worker_local* sums;

static void start_at_ten(void* value) {
    CHECK(*(long*)value == 0);
    *(long*)value = 10;
}
static void count_destroyed(void* value) {
    (void)value;
    ++destroyed;
}

static void* add_one(void* argument) {
    (void)argument;
    ++*(long*)tulle_worker_local_get(sums);
    return NULL;
}

static void worker_locals(void) {
    long sum = 0;
    int count = 0;
    CHECK(tulle_worker_local_create(NULL, 8, NULL, NULL) == -EINVAL);
    CHECK(tulle_worker_local_create(&sums, 0, NULL, NULL) == -EINVAL);
    CHECK(tulle_worker_local_create(&sums, SIZE_MAX, NULL, NULL) == -ENOMEM);
    CHECK(tulle_worker_local_create(&sums, sizeof(long), start_at_ten, count_destroyed) == 0);
    CHECK(tulle_worker_local_next(sums, 0) == TULLE_NO_INDEX);
    CHECK(tulle_worker_local_at(sums, 0) == NULL &&
          tulle_worker_local_at(sums, TULLE_NO_INDEX) == NULL);
    for (int k = 0; k < 100; ++k) {
        tulle_thread* thread = NULL;
        CHECK(tulle_spawn(&thread, NULL, add_one, NULL) == 0);
        CHECK(tulle_thread_join(thread, NULL) == 0);
    }
    for (size_t k = tulle_worker_local_next(sums, 0); k != TULLE_NO_INDEX;
         k = tulle_worker_local_next(sums, k + 1)) {
        sum += *(long*)tulle_worker_local_at(sums, k) - 10;
        ++count;
    }
    CHECK(sum == 100 && count >= 1);
    CHECK(tulle_worker_local_destroy(sums) == 0);
    CHECK(destroyed == count);
    CHECK(tulle_worker_local_destroy(NULL) == -EINVAL);
    CHECK(tulle_worker_local_get(NULL) == NULL && tulle_worker_local_at(NULL, 0) == NULL);
    CHECK(tulle_worker_local_next(NULL, 0) == TULLE_NO_INDEX);
}

int main(void) {
    keys();
    worker_locals();
    return 0;
}
