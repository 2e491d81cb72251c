/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in C, over however many places there are. */
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 20, EACH = 3 };

struct work {
    tulle_clock_t clock;
    tulle_global_ref_t arrived; /* at place 0 */
};

static void arrive(void const* argument, size_t size, void* result, size_t result_size) {
    CHECK(size == sizeof(tulle_global_ref_t) && result_size == sizeof(long));
    long* const arrived = tulle_global_ref_get(*(tulle_global_ref_t const*)argument);
    CHECK(arrived != NULL);
    *(long*)result = __atomic_add_fetch(arrived, 1, __ATOMIC_RELAXED); /* the clock orders it */
}
static long arrivals(struct work const* own) {
    long count = 0;
    CHECK(tulle_call_at(0, &arrive, &own->arrived, sizeof own->arrived, &count, sizeof count) == 0);
    return count;
}

/* All have arrived in the phases before, and none in the next one. */
static void phases(void const* argument, size_t size) {
    struct work own;
    CHECK(size == sizeof own);
    memcpy(&own, argument, size);
    long const members = (long)EACH * tulle_place_count();
    for (uint64_t phase = 1; phase <= PHASES; ++phase) {
        uint64_t reached = 0;
        long const count = arrivals(&own);
        CHECK(count > members * (long)(phase - 1) && count <= members * (long)phase);
        CHECK(tulle_clock_advance(own.clock, phase % 2 == 0 ? NULL : &reached) == 0 &&
              (phase % 2 == 0 || reached == phase));
    }
}

static void start_all(tulle_activities_t* all, void* argument) {
    struct work* const own = argument;
    CHECK(tulle_clock_create(&own->clock) == 0);
    for (int k = 0; k < EACH * tulle_place_count(); ++k)
        CHECK(tulle_clock_async_at(own->clock, k % 2 == 0 ? all : NULL, k % tulle_place_count(),
                                   &phases, own, sizeof *own) == 0);
    CHECK(tulle_clock_drop(own->clock) == 0);
}

static void refused(tulle_activities_t* all, void* unused) {
    CHECK(unused == NULL);
    tulle_clock_t clock = {0, 0};
    uint64_t phase = 0;
    CHECK(tulle_clock_create(NULL) == -EINVAL && tulle_clock_create(&clock) == 0);
    CHECK(tulle_clock_async_at(clock, all, -1, &phases, NULL, 0) == -EINVAL);
    CHECK(tulle_clock_async_at(clock, all, 0, NULL, NULL, 0) == -EINVAL &&
          tulle_clock_async_at(clock, all, 0, &phases, NULL, 1) == -EINVAL);
    CHECK(tulle_clock_advance(clock, &phase) == 0 && phase == 1);
    CHECK(tulle_clock_drop(clock) == 0 && tulle_clock_drop(clock) == -EPERM &&
          tulle_clock_advance(clock, NULL) == -EPERM);
    CHECK(tulle_clock_async_at(clock, all, 0, &phases, NULL, 0) == -EPERM);
    clock.home = (uint64_t)tulle_place_count();
    CHECK(tulle_clock_advance(clock, NULL) == -EINVAL && tulle_clock_drop(clock) == -EINVAL);
    CHECK(tulle_clock_async_at(clock, all, 0, &phases, NULL, 0) == -EINVAL);
}

int main(void) {
    long arrived = 0;
    struct work all = {{0, 0}, tulle_global_ref(&arrived)};
    CHECK(tulle_finish(&start_all, &all) == 0 &&
          arrived == (long)PHASES * EACH * tulle_place_count());
    CHECK(tulle_clock_advance(all.clock, NULL) == -EPERM);
    CHECK(tulle_finish(&refused, NULL) == 0);
    CHECK(tulle_clock_create(&all.clock) == 0 &&
          tulle_clock_async_at(all.clock, NULL, 0, &phases, &all, sizeof all) == -EPERM);
    CHECK(tulle_clock_drop(all.clock) == 0);
    return 0;
}
