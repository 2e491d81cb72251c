/* SPDX-License-Identifier: Apache-2.0 */
/* Two places on two hosts, with one worker each and no substitutes. Threads of one of them load
 * what the other one has stored, and compute in between: what one waits for another one does not.
 */
#include "check.h"

#include <stdatomic.h>
#include <string.h>
#include <tulle.h>

enum { LINE = 64, UNIT = 4096, UNITS = 200 };

struct shared {
    struct {
        long value;
        char rest[UNIT - sizeof(long)];
    } units[UNITS];
};

static struct shared* global;
static atomic_long progress; /* of the thread that computes */
static atomic_int ended;
static long interrupted; /* loads during which it came on */

/* With a check of its own, ahead of no loop. */
__attribute__((noinline)) static long value_of(int k) { return global->units[k].value; }

static void* load_all(void* nothing) {
    for (int k = 0; k < UNITS; ++k) {
        long const before = atomic_load(&progress);
        CHECK(value_of(k) == k + 1);
        interrupted += atomic_load(&progress) != before;
    }
    atomic_store(&ended, 1);
    return nothing;
}

static void* compute(void* nothing) {
    while (!atomic_load(&ended)) {
        atomic_fetch_add(&progress, 1);
        tulle_yield();
    }
    return nothing;
}

/* A child wants what its parent waits for; it may run on top of the parent's wait. */
static void load_one(void* argument) {
    int const k = *(int*)argument;
    CHECK(value_of(k) == k + 1);
}
/* A thread that waits keeps a stack: none is left for others. */
static tulle_signal_t last_load;
static void* wait_for_last_load(void* nothing) {
    tulle_signal_wait(&last_load);
    return nothing;
}
static void* load_with_children(void* nothing) {
    for (int k = 0; k < UNITS; ++k) {
        tulle_child const child = tulle_fork(load_one, &k);
        CHECK(value_of(k) == k + 1);
        tulle_join(child);
    }
    return nothing;
}

/* Two threads want the same; the second one while it has children. Where stacks are short it lets
 * nobody run meanwhile, also not the first one, for which the unit comes. */
static tulle_signal_t asked[UNITS], loaded[UNITS];
static void* load_first(void* nothing) {
    for (int k = 0; k < UNITS; ++k) {
        CHECK(tulle_signal_notify(&asked[k]) == 0);
        CHECK(value_of(k) == k + 1);
        CHECK(tulle_signal_wait(&loaded[k]) == 0);
    }
    return nothing;
}
static void do_nothing(void* nothing) { (void)nothing; }
static void* load_second(void* nothing) {
    for (int k = 0; k < UNITS; ++k) {
        CHECK(tulle_signal_wait(&asked[k]) == 0);
        tulle_yield(); /* the first one may not have come to its load yet */
        tulle_child const child = tulle_fork(do_nothing, NULL);
        CHECK(value_of(k) == k + 1);
        tulle_join(child);
        CHECK(tulle_signal_notify(&loaded[k]) == 0);
    }
    return nothing;
}
static void load_both(void) {
    tulle_thread* threads[2];
    for (int k = 0; k < UNITS; ++k)
        CHECK(tulle_signal_init(&asked[k], 1) == 0 && tulle_signal_init(&loaded[k], 1) == 0);
    CHECK(tulle_spawn(&threads[0], NULL, load_second, NULL) == 0);
    CHECK(tulle_spawn(&threads[1], NULL, load_first, NULL) == 0);
    for (int k = 0; k < 2; ++k) CHECK(tulle_thread_join(threads[k], NULL) == 0);
}

static void store_all(void const* memory, size_t size) {
    (void)size;
    global = *(struct shared* const*)memory;
    tulle_coherent_acquire();
    for (int k = 0; k < UNITS; ++k) global->units[k].value = k + 1;
    tulle_coherent_release();
}

static void body(tulle_activities_t* all, void* memory) {
    CHECK(tulle_async_at(all, 1, store_all, memory, sizeof(void*)) == 0);
}

int main(int argc, char** argv) {
    void* memory = NULL;
    tulle_thread* threads[2];
    CHECK(tulle_place_count() == 2);
    CHECK(tulle_coherent_begin() == 0);
    CHECK(tulle_coherent_malloc(&memory, sizeof(struct shared)) == 0);
    tulle_coherent_share();
    tulle_coherent_release();
    CHECK(tulle_finish(body, &memory) == 0);
    tulle_coherent_acquire();
    global = memory;
    if (argc == 2 && strcmp(argv[1], "both") == 0) {
        load_both();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "children") == 0) {
        CHECK(tulle_signal_init(&last_load, 1) == 0);
        CHECK(tulle_spawn(&threads[0], NULL, wait_for_last_load, NULL) == 0);
        tulle_yield();
        CHECK(tulle_spawn(&threads[1], NULL, load_with_children, NULL) == 0);
        CHECK(tulle_thread_join(threads[1], NULL) == 0);
        CHECK(tulle_signal_notify(&last_load) == 0);
        CHECK(tulle_thread_join(threads[0], NULL) == 0);
        return 0;
    }
    CHECK(tulle_spawn(&threads[0], NULL, compute, NULL) == 0);
    CHECK(tulle_spawn(&threads[1], NULL, load_all, NULL) == 0);
    for (int k = 0; k < 2; ++k) CHECK(tulle_thread_join(threads[k], NULL) == 0);
    CHECK(interrupted != 0); /* not each time: an answer may be there at once */
    return 0;
}
