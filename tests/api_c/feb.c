/* SPDX-License-Identifier: Apache-2.0 */
/* Full/empty words in C11: a queue of one word between POSIX threads and Tulle threads, all sizes,
 * errors as values. */
#include <tulle.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 2000

static uint64_t there;
static uint32_t back;

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void* answer(void* unused) {
    for (int i = 0; i < ROUNDS; ++i) {
        uint64_t got = 0;
        expect(tulle_feb_read_fe(&got, &there, sizeof there) == 0, "read_fe");
        uint32_t const next = (uint32_t)got + 1;
        expect(tulle_feb_write_ef(&back, &next, sizeof back) == 0, "write_ef");
    }
    return unused;
}

static void* ask(void* unused) {
    for (uint64_t i = 0; i < ROUNDS; ++i) {
        uint32_t got = 0;
        expect(tulle_feb_timed_write_ef(&there, &i, sizeof there, TULLE_FOREVER) == 0, "write_ef");
        expect(tulle_feb_read_fe(&got, &back, sizeof back) == 0 && got == i + 1, "read_fe");
    }
    return unused;
}

static void check_size(size_t size) {
    union {
        uint64_t all;
        unsigned char bytes[8];
    } word = {0}, value = {0}, result = {0};
    value.bytes[0] = 7;
    expect(tulle_feb_purge(&word, NULL, size) == 0 && tulle_feb_is_full(&word) == 0, "purge");
    expect(tulle_feb_try_read_ff(NULL, &word, size) == -EBUSY &&
               tulle_feb_try_read_fe(NULL, &word, size) == -EBUSY,
           "empty");
    expect(tulle_feb_try_write_ff(&word, &value, size) == -EBUSY, "empty");
    expect(tulle_feb_timed_read_ff(&result, &word, size, 1000) == -ETIMEDOUT, "read_ff times out");
    expect(tulle_feb_timed_read_fe(&result, &word, size, 1000) == -ETIMEDOUT, "read_fe times out");
    expect(tulle_feb_timed_write_ff(&word, &value, size, 1000) == -ETIMEDOUT, "write_ff times out");
    expect(tulle_feb_try_write_ef(&word, &value, size) == 0 && tulle_feb_is_full(&word) == 1,
           "try_write_ef");
    expect(tulle_feb_try_write_ef(&word, &value, size) == -EBUSY, "full");
    expect(tulle_feb_timed_write_ef(&word, &value, size, 1000) == -ETIMEDOUT, "write_ef times out");
    expect(tulle_feb_read_ff(&result, &word, size) == 0 && result.all == value.all, "read_ff");
    value.bytes[0] = 8;
    expect(tulle_feb_write_ff(&word, &value, size) == 0 &&
               tulle_feb_read_xx(&result, &word, size) == 0,
           "write_ff");
    expect(result.all == value.all && word.all == value.all, "the value");
    expect(tulle_feb_empty(&word, size) == 0 && tulle_feb_waiting(&word, NULL, 0) == 0, "empty");
    expect(tulle_feb_fill(&word, size) == 0 && tulle_feb_try_read_fe(&result, &word, size) == 0,
           "fill");
    expect(tulle_feb_write_f(&word, &value, size) == 0, "write_f");
}

static int g_locked_count;

static void* count_locked(void* unused) {
    for (int i = 0; i < ROUNDS; ++i) {
        expect(tulle_address_lock(&g_locked_count) == 0, "lock");
        ++g_locked_count;
        expect(tulle_address_unlock(&g_locked_count) == 0, "unlock");
    }
    return unused;
}

static void check_locks(void) {
    pthread_t foreign;
    tulle_thread* thread = NULL;
    expect(pthread_create(&foreign, NULL, count_locked, NULL) == 0, "pthread_create");
    expect(tulle_spawn(&thread, NULL, count_locked, NULL) == 0 &&
               tulle_thread_join(thread, NULL) == 0,
           "a Tulle thread");
    expect(pthread_join(foreign, NULL) == 0 && g_locked_count == 2 * ROUNDS, "no count is lost");
    expect(tulle_address_trylock(&thread) == 0 && tulle_address_trylock(&thread) == -EBUSY,
           "trylock");
    expect(tulle_address_timedlock(&thread, 1000) == -ETIMEDOUT &&
               tulle_address_unlock(&thread) == 0,
           "timedlock");
    expect(tulle_address_timedlock(&thread, TULLE_FOREVER) == 0 &&
               tulle_address_unlock(&thread) == 0,
           "timedlock");
    expect(tulle_address_lock(NULL) == -EINVAL && tulle_address_unlock(NULL) == -EINVAL, "null");
}

int main(void) {
    pthread_t foreign;
    tulle_thread* thread = NULL;
    tulle_thread* waiter = NULL;
    uint64_t id = 0;
    for (size_t size = 1; size <= 8; size *= 2) check_size(size);
    check_locks();
    expect(tulle_feb_empty(&there, 8) == 0 && tulle_feb_empty(&back, 4) == 0, "empty");
    expect(pthread_create(&foreign, NULL, answer, NULL) == 0, "pthread_create");
    expect(tulle_spawn(&thread, NULL, ask, NULL) == 0 && tulle_thread_join(thread, NULL) == 0,
           "a Tulle thread");
    expect(pthread_join(foreign, NULL) == 0, "pthread_join");
    expect(tulle_spawn(&waiter, NULL, answer, NULL) == 0, "spawn");
    while (tulle_feb_waiting(&there, &id, 1) == 0) tulle_yield();
    expect(id == tulle_thread_id(waiter), "who waits");
    expect(tulle_spawn(&thread, NULL, ask, NULL) == 0 && tulle_thread_join(thread, NULL) == 0,
           "another");
    expect(tulle_thread_join(waiter, NULL) == 0, "join");
    expect(tulle_feb_fill(NULL, 8) == -EINVAL && tulle_feb_is_full(NULL) == -EINVAL, "null");
    expect(tulle_feb_fill(&there, 3) == -EINVAL && tulle_feb_fill((char*)&there + 1, 2) == -EINVAL,
           "size, alignment");
    expect(tulle_feb_write_f(&there, NULL, 8) == -EINVAL &&
               tulle_feb_read_xx(NULL, &there, 16) == -EINVAL,
           "no value");
    return 0;
}
