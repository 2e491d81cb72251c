/* SPDX-License-Identifier: Apache-2.0 */
/* What the macros of parmacs.m4 become where processes are POSIX threads: the same program without
 * Tulle, which `tulle bench splash` compares with. Programs that keep to CREATE and WAIT_FOR_END as
 * SPLASH has them; a mistake is not looked for. */
#include <tulle_parmacs.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { k_most_threads = 1024, k_line = 64 };

static pthread_t s_threads[k_most_threads];
static int s_begun;  /* written by main */
static int s_joined; /* likewise */

static void* made(size_t size) {
    size_t const whole = (size + k_line - 1) / k_line * k_line;
    void* const memory = aligned_alloc(k_line, whole);
    if (memory != NULL) return memory;
    fprintf(stderr, "splash: no memory for %zu bytes\n", size);
    exit(1);
}

/* --- the program ------------------------------------------------------------------------------ */

void tulle_parmacs_before_main(char* const* arguments) { (void)arguments; }
void tulle_parmacs_begin(void) {}
void tulle_parmacs_end(void) {}

unsigned long tulle_parmacs_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long)now.tv_sec * 1000000 + (unsigned long)now.tv_nsec / 1000;
}

static void* run(void* argument) {
    void (*const* function)(void) = argument;
    (*function)();
    return NULL;
}

void tulle_parmacs_create(void (*function)(void)) {
    void (** const kept)(void) =
        made(sizeof(*kept)); /* for the thread, to the end of the program */
    *kept = function;
    if (s_begun < k_most_threads && pthread_create(&s_threads[s_begun], NULL, run, kept) == 0) {
        ++s_begun;
        return;
    }
    fprintf(stderr, "splash: no thread besides %d\n", s_begun);
    exit(1);
}

void tulle_parmacs_create_all(void (*function)(void), int processes) {
    for (int other = 1; other < processes; ++other) tulle_parmacs_create(function);
    function();
}

/* All that have been created: `processes` may count the caller, too. */
void tulle_parmacs_wait_for_end(int processes) {
    (void)processes;
    while (s_joined < s_begun) pthread_join(s_threads[s_joined++], NULL);
}

void tulle_parmacs_start_time(int number, int processes) {
    (void)number;
    (void)processes;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* As fresh as that of Tulle. */
void* tulle_parmacs_malloc(size_t size) { return calloc(1, size == 0 ? 1 : size); }
void tulle_parmacs_free(void* address) { free(address); }

/* --- synchronisation -------------------------------------------------------------------------- */

void tulle_parmacs_lock_init(tulle_parmacs_lock_t* first, int count) {
    for (int n = 0; n < count; ++n) {
        first[n].tulle_shared = made(sizeof(pthread_mutex_t));
        pthread_mutex_init(first[n].tulle_shared, NULL);
    }
}

void tulle_parmacs_lock(tulle_parmacs_lock_t lock) { pthread_mutex_lock(lock.tulle_shared); }
void tulle_parmacs_unlock(tulle_parmacs_lock_t lock) { pthread_mutex_unlock(lock.tulle_shared); }

/* Barriers, loops and events: a number under a mutex, and those that wait for it to change. */
struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long count;
    long round;
};

static void begin_meeting(struct meeting* at) {
    at->count = 0;
    at->round = 0;
    pthread_mutex_init(&at->mutex, NULL);
    pthread_cond_init(&at->changed, NULL);
}

static void* new_meeting(void) {
    struct meeting* const at = made(sizeof(*at));
    begin_meeting(at);
    return at;
}

/* With the mutex; the last one of so many ends the round. */
static void arrive(struct meeting* at, long* arrived, int processes) {
    long const round = at->round;
    if (++*arrived == processes) {
        *arrived = 0;
        ++at->round;
        pthread_cond_broadcast(&at->changed);
        return;
    }
    while (at->round == round) pthread_cond_wait(&at->changed, &at->mutex);
}

void tulle_parmacs_barrier_init(tulle_parmacs_barrier_t* first, int count) {
    for (int n = 0; n < count; ++n) first[n].tulle_shared = new_meeting();
}

void tulle_parmacs_barrier(tulle_parmacs_barrier_t barrier, int processes) {
    struct meeting* const at = barrier.tulle_shared;
    pthread_mutex_lock(&at->mutex);
    arrive(at, &at->count, processes);
    pthread_mutex_unlock(&at->mutex);
}

struct loop {
    struct meeting meeting; /* its count: the next subscript */
    long ended;
};

void tulle_parmacs_subscript_init(tulle_parmacs_subscript_t* first, int count) {
    for (int n = 0; n < count; ++n) {
        struct loop* const loop = made(sizeof(*loop));
        begin_meeting(&loop->meeting);
        loop->ended = 0;
        first[n].tulle_shared = loop;
    }
}

int tulle_parmacs_subscript(tulle_parmacs_subscript_t subscript, int most, int processes) {
    struct loop* const loop = subscript.tulle_shared;
    pthread_mutex_lock(&loop->meeting.mutex);
    int next = -1;
    if (loop->meeting.count <= most) {
        next = (int)loop->meeting.count++;
    } else {
        if (loop->ended + 1 == processes) loop->meeting.count = 0;
        arrive(&loop->meeting, &loop->ended, processes);
    }
    pthread_mutex_unlock(&loop->meeting.mutex);
    return next;
}

void tulle_parmacs_event_init(tulle_parmacs_event_t* first, int count) {
    for (int n = 0; n < count; ++n) first[n].tulle_shared = new_meeting();
}

static void change(tulle_parmacs_event_t event, long value) {
    struct meeting* const at = event.tulle_shared;
    pthread_mutex_lock(&at->mutex);
    at->count = value;
    pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->mutex);
}

static void wait_and_change(tulle_parmacs_event_t event, long wanted, long next) {
    struct meeting* const at = event.tulle_shared;
    pthread_mutex_lock(&at->mutex);
    while (at->count != wanted) pthread_cond_wait(&at->changed, &at->mutex);
    at->count = next;
    if (next != wanted) pthread_cond_broadcast(&at->changed);
    pthread_mutex_unlock(&at->mutex);
}

void tulle_parmacs_event_set(tulle_parmacs_event_t event) { change(event, 1); }
void tulle_parmacs_event_clear(tulle_parmacs_event_t event) { change(event, 0); }
void tulle_parmacs_event_wait(tulle_parmacs_event_t event) { wait_and_change(event, 1, 1); }
void tulle_parmacs_event_take(tulle_parmacs_event_t event) { wait_and_change(event, 1, 0); }
void tulle_parmacs_event_announce(tulle_parmacs_event_t event) { wait_and_change(event, 0, 1); }

void tulle_parmacs_cond_init(tulle_parmacs_cond_t* first, int count) {
    for (int n = 0; n < count; ++n) {
        first[n] = made(sizeof(pthread_cond_t));
        pthread_cond_init(first[n], NULL);
    }
}

void tulle_parmacs_cond_wait(tulle_parmacs_cond_t condition, tulle_parmacs_lock_t lock) {
    pthread_cond_wait(condition, lock.tulle_shared);
}
void tulle_parmacs_cond_signal(tulle_parmacs_cond_t condition) { pthread_cond_signal(condition); }
void tulle_parmacs_cond_broadcast(tulle_parmacs_cond_t condition) {
    pthread_cond_broadcast(condition);
}

void tulle_parmacs_acquire_fence(void) { atomic_thread_fence(memory_order_acquire); }
void tulle_parmacs_release_fence(void) { atomic_thread_fence(memory_order_release); }
void tulle_parmacs_full_fence(void) { atomic_thread_fence(memory_order_seq_cst); }
