/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation by global addresses from C, with one place. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static tulle_limit_t const g_try = {0, NULL};
static tulle_limit_t const g_soon = {1000000, NULL};

static void words(void) {
    void* memory = NULL;
    uint32_t value = 5;
    CHECK(tulle_global_calloc(&memory, 16, 1) == 0);
    uint32_t* const word = memory;
    CHECK(tulle_global_feb_is_full(word) == 1);
    CHECK(tulle_global_feb_purge(word, &value, 4) == 0);
    CHECK(tulle_global_feb_is_full(word) == 0);
    CHECK(tulle_global_feb_read_fe(&value, word, 4, &g_soon) == -ETIMEDOUT);
    CHECK(tulle_global_feb_read_ff(&value, word, 4, &g_try) == -ETIMEDOUT);
    CHECK(tulle_global_feb_write_ff(word, &value, 4, &g_try) == -ETIMEDOUT);
    value = 6;
    CHECK(tulle_global_feb_write_ef(word, &value, 4, NULL) == 0);
    CHECK(tulle_global_feb_write_ef(word, &value, 4, &g_soon) == -ETIMEDOUT);
    CHECK(tulle_global_feb_read_ff(&value, word, 4, NULL) == 0 && value == 6);
    value = 7;
    CHECK(tulle_global_feb_write_ff(word, &value, 4, NULL) == 0);
    CHECK(tulle_global_feb_read_fe(NULL, word, 4, NULL) == 0);
    CHECK(tulle_global_feb_read_xx(&value, word, 4) == 0 && value == 7);
    CHECK(tulle_global_feb_fill(word, 4) == 0 && tulle_global_feb_empty(word, 4) == 0);
    CHECK(tulle_global_feb_write_f(word, &value, 4) == 0 && tulle_global_feb_is_full(word) == 1);
    CHECK(tulle_global_feb_purge(word, NULL, 4) == 0 && *word == 0);
    CHECK(tulle_global_feb_fill(word, 4) == 0);

    tulle_cancellation_t* cancelled = NULL;
    CHECK(tulle_cancellation_create(&cancelled, NULL) == 0 &&
          tulle_cancellation_request(cancelled) == 0);
    tulle_limit_t const over = {TULLE_FOREVER, cancelled};
    CHECK(tulle_global_feb_write_ef(word, &value, 4, &over) == -ECANCELED);
    CHECK(tulle_cancellation_destroy(cancelled) == 0);

    CHECK(tulle_global_feb_fill(NULL, 4) == -EINVAL);
    CHECK(tulle_global_feb_fill(word, 3) == -EINVAL);
    CHECK(tulle_global_feb_fill((char*)memory + 1, 4) == -EINVAL);
    CHECK(tulle_global_feb_fill(&value, 4) == -EFAULT);
    CHECK(tulle_global_feb_write_f(word, NULL, 4) == -EINVAL);
    CHECK(tulle_global_feb_read_xx(&value, word, 5) == -EINVAL);
    CHECK(tulle_global_feb_is_full(NULL) == -EINVAL);
    CHECK(tulle_global_free(memory) == 0);
}

static void objects(void) {
    void* memory = NULL;
    CHECK(tulle_global_calloc(&memory, 1, sizeof(tulle_mutex_t)) == 0);
    tulle_mutex_t* const mutex = memory;
    CHECK(tulle_global_mutex_unlock(mutex) == -EPERM);
    CHECK(tulle_global_mutex_lock(mutex, NULL) == 0);
    CHECK(tulle_mutex_trylock(mutex) == -EBUSY);
    CHECK(tulle_global_mutex_lock(mutex, &g_try) == -ETIMEDOUT);
    CHECK(tulle_global_mutex_lock(mutex, &g_soon) == -ETIMEDOUT);
    CHECK(tulle_global_mutex_unlock(mutex) == 0);
    CHECK(tulle_global_mutex_lock(NULL, NULL) == -EINVAL &&
          tulle_global_mutex_unlock(NULL) == -EINVAL);
    CHECK(tulle_global_free(memory) == 0);

    tulle_barrier_t const of_two = TULLE_BARRIER_INIT(2);
    CHECK(tulle_global_calloc(&memory, 1, sizeof of_two) == 0);
    CHECK(tulle_global_barrier_wait(memory, NULL) == -EINVAL);
    CHECK(tulle_global_write(memory, &of_two, sizeof of_two) == 0);
    CHECK(tulle_global_barrier_wait(memory, &g_soon) == -ETIMEDOUT);
    CHECK(tulle_global_barrier_wait(NULL, NULL) == -EINVAL);
    CHECK(tulle_global_free(memory) == 0);

    CHECK(tulle_global_calloc(&memory, 1, sizeof(tulle_signal_t)) == 0);
    CHECK(tulle_global_signal_wait(memory, NULL) == 0);
    CHECK(tulle_global_signal_notify(memory) == -EPERM);
    CHECK(tulle_global_signal_add_signalers(memory, 1) == 0);
    CHECK(tulle_global_signal_wait(memory, &g_soon) == -ETIMEDOUT);
    CHECK(tulle_global_signal_notify(memory) == 0);
    CHECK(tulle_global_signal_wait(memory, &g_soon) == 0);
    CHECK(tulle_global_signal_notify(NULL) == -EINVAL &&
          tulle_global_signal_add_signalers(NULL, 1) == -EINVAL);
    CHECK(tulle_global_free(memory) == 0);
}

int main(void) {
    words();
    objects();
    return 0;
}
