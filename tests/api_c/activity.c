/* SPDX-License-Identifier: Apache-2.0 */
/* at, async and finish in C, over however many places there are. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 100000, MANY = 50 };

/* --- at --------------------------------------------------------------------------------------- */

static long g_last; /* of each place */

static void keep(const void* argument, size_t size, void* result, size_t result_size) {
    CHECK(size == sizeof g_last && result == NULL && result_size == 0);
    memcpy(&g_last, argument, size);
}
static void doubled(const void* argument, size_t size, void* result, size_t result_size) {
    unsigned char const* const from = argument;
    unsigned char* const to = result;
    CHECK((uintptr_t)argument % alignof(max_align_t) == 0 && size == result_size);
    for (size_t k = 0; k < size; ++k) to[k] = (unsigned char)(2 * from[k]);
}
static void kept(const void* argument, size_t size, void* result, size_t result_size) {
    CHECK(argument == NULL && size == 0 && result_size == sizeof g_last && *(long*)result == 0);
    memcpy(result, &g_last, result_size);
}
static void where(const void* argument, size_t size, void* result, size_t result_size) {
    CHECK(argument == NULL && size == 0 && result_size == sizeof(int));
    *(int*)result = tulle_here();
}

static void calls(void) {
    static unsigned char from[LARGE];
    static unsigned char to[LARGE];
    for (size_t k = 0; k < LARGE; ++k) from[k] = (unsigned char)k;
    for (int p = 0; p < tulle_place_count(); ++p) {
        long const value = 1000 + p;
        long back = 0;
        CHECK(tulle_call_at(p, &keep, &value, sizeof value, NULL, 0) == 0);
        CHECK(tulle_call_at(p, &kept, NULL, 0, &back, sizeof back) == 0 && back == value);
        memset(to, 0, LARGE);
        CHECK(tulle_call_at(p, &doubled, from, LARGE, to, LARGE) == 0);
        for (size_t k = 0; k < LARGE; ++k) CHECK(to[k] == (unsigned char)(2 * from[k]));
    }
    CHECK(g_last == 1000);
}

static void refused_calls(void) {
    char byte = 0;
    tulle_call_t* call = NULL;
    CHECK(tulle_call_at(-1, &where, NULL, 0, NULL, 0) == -EINVAL);
    CHECK(tulle_call_at(tulle_place_count(), &where, NULL, 0, NULL, 0) == -EINVAL);
    CHECK(tulle_call_at(0, NULL, NULL, 0, NULL, 0) == -EINVAL);
    CHECK(tulle_call_at(0, &where, NULL, 1, NULL, 0) == -EINVAL);
    CHECK(tulle_call_at(0, &where, NULL, 0, NULL, 1) == -EINVAL);
    CHECK(tulle_call_at(0, &where, &byte, SIZE_MAX, NULL, 0) == -EINVAL);
    CHECK(tulle_call_at(0, &where, NULL, 0, &byte, SIZE_MAX) == -EINVAL);
    CHECK(tulle_call_at(0, (tulle_call_function_t*)(uintptr_t)&byte, NULL, 0, NULL, 0) == -ENOENT);
    CHECK(tulle_call_begin(NULL, 0, &where, NULL, 0, 0) == -EINVAL);
    CHECK(tulle_call_begin(&call, 0, NULL, NULL, 0, 0) == -EINVAL && call == NULL);
    CHECK(tulle_call_wait(NULL, NULL, NULL) == -EINVAL);
    CHECK(tulle_call_abandon(NULL) == -EINVAL);
}

static tulle_signal_t g_gate; /* of place 0 */

static void wait_at_gate(const void* argument, size_t size, void* result, size_t result_size) {
    (void)argument, (void)size;
    CHECK(tulle_signal_wait(&g_gate) == 0 && result_size == sizeof(int));
    *(int*)result = 42;
}

static void calls_begun(void) {
    tulle_call_t* all[MANY];
    for (int k = 0; k < MANY; ++k)
        CHECK(tulle_call_begin(&all[k], k % tulle_place_count(), &where, NULL, 0, sizeof(int)) ==
              0);
    for (int k = 0; k < MANY; ++k) {
        int result = -1;
        CHECK(tulle_call_wait(all[k], &result, NULL) == 0 && result == k % tulle_place_count());
    }
    CHECK(tulle_call_begin(&all[0], 0, &where, NULL, 0, sizeof(int)) == 0 &&
          tulle_call_wait(all[0], NULL, NULL) == 0);
    CHECK(tulle_call_begin(&all[0], 0, &where, NULL, 0, sizeof(int)) == 0 &&
          tulle_call_abandon(all[0]) == 0);

    static unsigned char from[LARGE];
    static unsigned char to[LARGE];
    memset(from, 7, LARGE);
    for (int p = 0; p < tulle_place_count(); ++p) {
        CHECK(tulle_call_begin(&all[p], p, &doubled, from, LARGE, LARGE) == 0);
        memset(from, 8 + p, LARGE); /* it has been copied */
    }
    for (int p = 0; p < tulle_place_count(); ++p) {
        CHECK(tulle_call_wait(all[p], to, NULL) == 0);
        for (size_t k = 0; k < LARGE; ++k) CHECK(to[k] == 2 * (7 + p));
    }

    tulle_limit_t const soon = {1000000, NULL};
    int result = 0;
    CHECK(tulle_signal_init(&g_gate, 1) == 0 &&
          tulle_call_begin(&all[0], 0, &wait_at_gate, NULL, 0, sizeof(int)) == 0);
    CHECK(tulle_call_wait(all[0], &result, &soon) == -ETIMEDOUT && result == 0);
    CHECK(tulle_signal_notify(&g_gate) == 0 && tulle_call_wait(all[0], &result, NULL) == 0 &&
          result == 42);
}

/* --- finish and async ------------------------------------------------------------------------- */

struct tally {
    tulle_global_ref_t count; /* at place 0 */
    int depth;
};

static void count_one(const void* argument, size_t size, void* result, size_t result_size) {
    tulle_global_ref_t ref;
    CHECK(size == sizeof ref && result == NULL && result_size == 0);
    memcpy(&ref, argument, size);
    CHECK(tulle_global_ref_get(ref) != NULL);
    __atomic_fetch_add((long*)tulle_global_ref_get(ref), 1,
                       __ATOMIC_RELAXED); /* finish orders it */
}

/* Counts itself at place 0, and starts one at each place. */
static void spread(const void* argument, size_t size) {
    struct tally own;
    CHECK(size == sizeof own);
    memcpy(&own, argument, size);
    CHECK((tulle_global_ref_get(own.count) != NULL) == (tulle_here() == 0));
    CHECK(tulle_call_at(0, &count_one, &own.count, sizeof own.count, NULL, 0) == 0);
    if (own.depth-- == 0) return;
    for (int p = 0; p < tulle_place_count(); ++p)
        CHECK(tulle_async_at(NULL, p, &spread, &own, sizeof own) == 0);
}
static void spread_first(tulle_activities_t* all, void* tally) {
    for (int p = 0; p < tulle_place_count(); ++p)
        CHECK(tulle_async_at(all, p, &spread, tally, sizeof(struct tally)) == 0);
}
static void many_anywhere(tulle_activities_t* all, void* tally) {
    for (int k = 0; k < MANY; ++k)
        CHECK(tulle_async_any(k % 2 == 0 ? all : NULL, &spread, tally, sizeof(struct tally)) == 0);
}

static void finishes(void) {
    long const n = tulle_place_count();
    long count = 0;
    struct tally all = {tulle_global_ref(&count), 2};
    CHECK(tulle_global_ref_get(all.count) == &count);
    CHECK(tulle_finish(&spread_first, &all) == 0 && count == n + n * n + n * n * n);
    count = 0;
    all.depth = 0;
    CHECK(tulle_finish(&many_anywhere, &all) == 0 && count == MANY);
    CHECK(tulle_finish(NULL, NULL) == -EINVAL);
    CHECK(tulle_async_at(NULL, 0, &spread, &all, sizeof all) == -EPERM &&
          tulle_async_any(NULL, &spread, &all, sizeof all) == -EPERM);
    CHECK(tulle_finish_cancel(NULL) == -EPERM && tulle_finish_cancellation(NULL) == NULL);
}

static void refused_activities(tulle_activities_t* all, void* unused) {
    CHECK(unused == NULL);
    CHECK(tulle_async_at(all, -1, &spread, NULL, 0) == -EINVAL);
    CHECK(tulle_async_at(all, tulle_place_count(), &spread, NULL, 0) == -EINVAL);
    CHECK(tulle_async_at(all, 0, NULL, NULL, 0) == -EINVAL &&
          tulle_async_at(all, 0, &spread, NULL, 1) == -EINVAL);
    CHECK(tulle_async_any(all, NULL, NULL, 0) == -EINVAL &&
          tulle_async_any(all, &spread, NULL, 1) == -EINVAL);
    CHECK(tulle_finish_cancel(all) == -EPERM && tulle_finish_cancellation(all) == NULL);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void until_cancelled(const void* argument, size_t size) {
    CHECK(argument == NULL && size == 0);
    tulle_limit_t const limit = {TULLE_FOREVER, tulle_finish_cancellation(NULL)};
    CHECK(limit.cancellation != NULL && tulle_sleep_within(&limit) == -ECANCELED);
}
static void wait_everywhere(tulle_activities_t* all, void* unused) {
    CHECK(unused == NULL && tulle_finish_cancellation(all) != NULL);
    for (int p = 0; p < tulle_place_count(); ++p)
        CHECK(tulle_async_at(all, p, &until_cancelled, NULL, 0) == 0);
}
static void cancels(const void* argument, size_t size) {
    CHECK(argument == NULL && size == 0);
    int const error = tulle_finish_cancel(NULL);
    CHECK(error == 0 || error == -EALREADY);
}
static void cancelled_from_the_last(tulle_activities_t* all, void* unused) {
    wait_everywhere(all, unused);
    CHECK(tulle_async_at(all, tulle_place_count() - 1, &cancels, NULL, 0) == 0);
}
static void empty(tulle_activities_t* all, void* unused) { CHECK(all != NULL && unused == NULL); }

static void limits(void) {
    uint64_t lost = 1;
    tulle_limit_t const soon = {5000000, NULL};
    tulle_limit_t const never = {TULLE_FOREVER, NULL};
    CHECK(tulle_finish_within(&wait_everywhere, NULL, &soon, &lost) == -ECANCELED && lost == 0);
    CHECK(tulle_finish_within(&cancelled_from_the_last, NULL, &never, NULL) == -ECANCELED);
    CHECK(tulle_finish_within(&empty, NULL, &never, NULL) == 0);
    CHECK(tulle_finish_within(NULL, NULL, &never, NULL) == -EINVAL);
}

/* --- places that die -------------------------------------------------------------------------- */

static void dies(const void* argument, size_t size) {
    CHECK(argument == NULL && size == 0 && tulle_here() != 0);
    raise(SIGKILL);
}
static void last_one_dies(tulle_activities_t* all, void* unused) {
    CHECK(unused == NULL && tulle_async_at(all, tulle_place_count() - 1, &dies, NULL, 0) == 0);
}

static void deaths(void) {
    int const last = tulle_place_count() - 1;
    int result = 0;
    uint64_t lost = 0;
    CHECK(last != 0 && tulle_finish_within(&last_one_dies, NULL, NULL, &lost) == -EHOSTDOWN &&
          lost == 1);
    CHECK(tulle_call_at(last, &where, NULL, 0, &result, sizeof result) == -EHOSTDOWN);
    tulle_call_t* begun = NULL;
    CHECK(tulle_call_begin(&begun, last, &where, NULL, 0, sizeof result) == 0);
    CHECK(tulle_call_wait(begun, &result, NULL) == -EHOSTDOWN && result == 0);
    CHECK(tulle_call_at(last - 1, &where, NULL, 0, &result, sizeof result) == 0 &&
          result == last - 1);
}

int main(void) {
    calls();
    refused_calls();
    calls_begun();
    finishes();
    CHECK(tulle_finish(&refused_activities, NULL) == 0);
    limits();
    if (getenv("TULLE_ON_PLACE_DEATH") != NULL) deaths();
    return 0;
}
