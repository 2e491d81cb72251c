/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs without data races, on places with several threads, which have one copy of
 * coherent memory, and run at the same time or by turns. Each byte is what it would be in one
 * memory. Arguments: the threads of a place, the number of programs, the first seed, the workers of
 * a place. */
#include "check.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <tulle.h>
#include <tulle/coherent_abi.h>

enum { MOST = 32, LOCKS = 3, BYTES = 6000, WIDE = 700, TIMES = 100, MOST_PHASES = 5 };

struct shared {
    atomic_int locks[LOCKS];
    unsigned char bytes[BYTES]; /* each is some thread's in a phase, or a lock's */
    long counts[LOCKS];         /* turns under a lock */
    double rows[MOST][WIDE];    /* by threads */
    double columns[WIDE][MOST]; /* likewise, so that lines are everybody's */
    double sums[MOST];
};

static struct shared* global;
static uint32_t* words; /* the locks by pages */
static int P, T = 2, programs = 10;
static uint64_t seed = 1;

static uint32_t drawn(uint64_t* state, uint32_t below) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

/* What one program is, the same everywhere. */
struct plan {
    int owners[BYTES]; /* a thread, or the number of all and more: a lock */
    int phases, turns;
    uint64_t state;
};

static void make_plan(struct plan* made, int number) {
    made->state = seed + (uint64_t)number;
    made->phases = 1 + (int)drawn(&made->state, MOST_PHASES);
    made->turns = 1 + (int)drawn(&made->state, 4);
    for (int b = 0; b < BYTES; ++b)
        made->owners[b] = (int)drawn(&made->state, (uint32_t)(P * T + LOCKS));
}

struct task {
    struct plan const* plan;
    int thread, phase;
};

static int is_guarded(struct plan const* plan, int b) { return plan->owners[b] >= P * T; }
static int writer(struct plan const* plan, int b, int phase) {
    return (plan->owners[b] + phase) % (P * T);
}

/* A lock that the program has invented; by pages, where atomics are no such thing, outside of
 * coherent memory. */
#ifdef BY_PAGES
static void take(int lock) {
    for (;;) {
        uint32_t expected = 0;
        if (tulle_global_compare_exchange_32(&words[lock], &expected, 1) == 1) break;
        tulle_yield();
    }
    tulle_coherent_acquire();
}
static void give(int lock) {
    uint32_t before = 0;
    tulle_coherent_release();
    CHECK(tulle_global_exchange_32(&words[lock], 0, &before) == 0 && before == 1);
}
#else
static void take(int lock) {
    while (atomic_exchange_explicit(&global->locks[lock], 1, memory_order_acquire) != 0)
        tulle_yield();
}
static void give(int lock) { atomic_store_explicit(&global->locks[lock], 0, memory_order_release); }
#endif

/* Loops with one check ahead of each, which go on for long while others synchronise. */
static void write_rows(int thread, int phase) {
    for (int k = 0; k < WIDE; ++k) global->rows[thread][k] += phase + k;
    for (int k = 0; k < WIDE; ++k) global->columns[k][thread] = global->rows[thread][k];
    for (int time = 0; time < TIMES; ++time)
        for (int k = 0; k < WIDE; ++k) global->columns[k][thread] += 1;
    double sum = 0;
    for (int k = 0; k < WIDE; ++k) sum += global->columns[k][thread];
    global->sums[thread] = sum;
}

static void* run_task(void* argument) {
    struct task const* const t = argument;
    struct plan const* const plan = t->plan;
    uint64_t state = plan->state + (uint64_t)(t->thread * MOST_PHASES + t->phase);
    for (int turn = 0; turn < plan->turns; ++turn) {
        if (turn == 0)
            for (int b = 0; b < BYTES; ++b)
                if (!is_guarded(plan, b) && writer(plan, b, t->phase) == t->thread)
                    ++global->bytes[b];
        int const lock = (int)drawn(&state, LOCKS);
        take(lock);
        for (int b = 0; b < BYTES; ++b)
            if (plan->owners[b] == P * T + lock) ++global->bytes[b];
        ++global->counts[lock];
        give(lock);
        if (turn == 0) write_rows(t->thread, t->phase);
    }
    return NULL;
}

static void expect_all(struct plan const* plan, int phases) {
    for (int b = 0; b < BYTES; ++b) {
        long const added = is_guarded(plan, b) ? global->counts[plan->owners[b] - P * T] : phases;
        CHECK(global->bytes[b] == (unsigned char)(b + added));
    }
    long turns = 0;
    for (int lock = 0; lock < LOCKS; ++lock) turns += global->counts[lock];
    CHECK(turns == (long)phases * plan->turns * P * T);
    double const steps = phases * (phases - 1) / 2.0;
    for (int thread = 0; thread < P * T; ++thread) {
        double sum = 0;
        for (int k = 0; k < WIDE; ++k) {
            CHECK(global->rows[thread][k] == steps + (double)phases * k);
            CHECK(global->columns[k][thread] == global->rows[thread][k] + TIMES);
            sum += global->columns[k][thread];
        }
        CHECK(global->sums[thread] == sum);
    }
}

static void meet(void) {
    tulle_team_t const all = TULLE_TEAM_OF_ALL_PLACES;
    tulle_coherent_release();
    CHECK(tulle_team_barrier(all) == 0);
    tulle_coherent_acquire();
}

/* What a release watches, since a thread might still store by an old check, it watches no longer
 * once all workers have come to where they hold none. */
static void expect_end_of_watch(void) {
#ifndef BY_DIRECTORY /* by which nothing is watched, and states are tags */
    uint64_t const first = TULLE_COHERENT_STATE_OF((uintptr_t)global);
    uint64_t const last = TULLE_COHERENT_STATE_OF((uintptr_t)(global + 1) - 1);
    for (uint64_t state = first; state <= last; ++state) {
        while ((*(uint8_t volatile*)(uintptr_t)state & TULLE_COHERENT_CHANGING) != 0) {
            tulle_coherent_release();
            tulle_yield();
        }
    }
#endif
}

/* All threads of this place. The one that calls synchronises with other places for them. */
static void run_phase(struct plan const* plan, int me, int phase) {
    struct task tasks[MOST];
    tulle_thread* threads[MOST];
    for (int t = 0; t < T; ++t) {
        tasks[t] = (struct task){plan, me * T + t, phase};
        CHECK(tulle_spawn(&threads[t], NULL, run_task, &tasks[t]) == 0);
    }
    for (int t = 0; t < T; ++t) CHECK(tulle_thread_join(threads[t], NULL) == 0);
    meet();
    expect_all(plan, phase + 1);
    expect_end_of_watch();
    meet();
}

static void run_program(int me, int number) {
    struct plan* const plan = malloc(sizeof *plan);
    CHECK(plan != NULL);
    make_plan(plan, number);
    if (me == number % P) {
        for (int b = 0; b < BYTES; ++b) global->bytes[b] = (unsigned char)b;
        memset(global->counts, 0, sizeof global->counts);
        memset(global->rows, 0, sizeof global->rows);
    }
    meet();
    for (int phase = 0; phase < plan->phases; ++phase) run_phase(plan, me, phase);
    free(plan);
}

struct start {
    struct shared* memory;
    uint32_t* words;
    uint64_t seed;
    int threads, programs, workers;
};

static void work(void const* argument, size_t size) {
    struct start const* const start = argument;
    (void)size;
    global = start->memory;
    words = start->words;
    P = tulle_place_count();
    T = start->threads;
    programs = start->programs;
    seed = start->seed;
    CHECK(tulle_worker_count() == start->workers);
    tulle_coherent_acquire();
    for (int k = 0; k < programs; ++k) run_program(tulle_here(), k);
}

static void body(tulle_activities_t* all, void* start) {
    for (int place = 0; place < tulle_place_count(); ++place)
        CHECK(tulle_async_at(all, place, work, start, sizeof(struct start)) == 0);
}

int main(int argc, char** argv) {
    struct start start = {NULL, NULL, 1, 2, 10, 2};
    void* memory = NULL;
    void* locks = NULL;
    if (argc > 1) start.threads = atoi(argv[1]);
    if (argc > 2) start.programs = atoi(argv[2]);
    if (argc > 3) start.seed = strtoull(argv[3], NULL, 10);
    if (argc > 4) start.workers = atoi(argv[4]);
    CHECK(start.threads >= 1 && start.threads * tulle_place_count() <= MOST);
    int const error = tulle_coherent_begin();
    if (error != 0) return -error;
    CHECK(tulle_coherent_malloc(&memory, sizeof(struct shared)) == 0);
    CHECK(tulle_global_calloc(&locks, LOCKS, sizeof(uint32_t)) == 0);
    start.memory = memory;
    start.words = locks;
    memset(memory, 0, sizeof(struct shared));
    tulle_coherent_share();
    tulle_coherent_release();
    CHECK(tulle_finish(body, &start) == 0);
    return 0;
}
