/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores, locks, channels, phases, cancellation and timers in C11, from OS threads of the
 * program's own. */
#include <tulle.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 2000
#define MILLISECOND 1000000ULL

static tulle_sem_t units = TULLE_SEM_INIT(2);
static tulle_rwlock_t rwlock = TULLE_RWLOCK_INIT;
static tulle_rmutex_t rmutex = TULLE_RMUTEX_INIT;
static tulle_spin_t spin = TULLE_SPIN_INIT;
static tulle_phases_t phases = TULLE_PHASES_INIT(THREADS);
static tulle_channel_t* items;
static long written, counted, spun;

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void* run(void* self) {
    int const index = (int)(long)self;
    for (int i = 0; i < ROUNDS; ++i) {
        expect(tulle_sem_wait(&units) == 0, "sem");
        expect(tulle_sem_post(&units, 1) == 0, "post");
        if (i % THREADS == index) {
            expect(tulle_rwlock_wrlock(&rwlock) == 0, "write");
            ++written;
        } else {
            expect(tulle_rwlock_rdlock(&rwlock) == 0, "read");
        }
        expect(tulle_rwlock_unlock(&rwlock) == 0, "unlock");
        expect(tulle_rmutex_lock(&rmutex) == 0 && tulle_rmutex_trylock(&rmutex) == 0, "recursive");
        ++counted;
        expect(tulle_rmutex_unlock(&rmutex) == 0 && tulle_rmutex_unlock(&rmutex) == 0,
               "unlock twice");
        expect(tulle_spin_lock(&spin) == 0, "spin");
        ++spun;
        expect(tulle_spin_unlock(&spin) == 0, "spin unlock");
        expect(tulle_channel_send(items, &i) == 0, "send");
        if (i % 100 == 0) expect(tulle_phases_arrive_and_wait(&phases) == 0, "phase");
    }
    expect(tulle_phases_arrive_and_drop(&phases) == 0, "drop");
    return NULL;
}

static void test_together(void) {
    pthread_t threads[THREADS];
    long sum = 0;
    int item = 0;
    expect(tulle_channel_create(&items, sizeof(int), 3) == 0, "create");
    for (long i = 0; i < THREADS; ++i)
        expect(pthread_create(&threads[i], NULL, run, (void*)i) == 0, "pthread_create");
    for (int i = 0; i < THREADS * ROUNDS; ++i) {
        expect(tulle_channel_receive(items, &item) == 0, "receive");
        sum += item;
    }
    for (int i = 0; i < THREADS; ++i) expect(pthread_join(threads[i], NULL) == 0, "pthread_join");
    expect(written == ROUNDS && counted == (long)THREADS * ROUNDS && spun == counted, "counts");
    expect(sum == (long)THREADS * ROUNDS * (ROUNDS - 1) / 2, "all items");
    expect(tulle_channel_close(items) == 0 && tulle_channel_close(items) == -EALREADY, "close");
    expect(tulle_channel_receive(items, &item) == -EPIPE &&
               tulle_channel_send(items, &item) == -EPIPE,
           "closed");
    expect(tulle_channel_destroy(items) == 0, "destroy");
}

static void test_tries_and_time_outs(void) {
    uint64_t value = 9;
    tulle_sem_t sem;
    expect(tulle_sem_init(&sem, 0) == 0 && tulle_sem_trywait(&sem) == -EBUSY, "no units");
    expect(tulle_sem_timedwait(&sem, MILLISECOND) == -ETIMEDOUT, "sem time-out");
    expect(tulle_sem_getvalue(&sem, &value) == 0 && value == 0, "value");
    expect(tulle_sem_post(&sem, UINT64_MAX) == -EOVERFLOW && tulle_sem_destroy(&sem) == 0,
           "overflow");
    expect(tulle_sem_init(&sem, UINT64_MAX) == -EINVAL && tulle_sem_wait(NULL) == -EINVAL,
           "values");
    tulle_rwlock_t lock;
    expect(tulle_rwlock_init(&lock) == 0 && tulle_rwlock_unlock(&lock) == -EPERM, "not held");
    expect(tulle_rwlock_tryrdlock(&lock) == 0 && tulle_rwlock_trywrlock(&lock) == -EBUSY,
           "held for reading");
    expect(tulle_rwlock_timedwrlock(&lock, MILLISECOND) == -ETIMEDOUT &&
               tulle_rwlock_destroy(&lock) == -EBUSY,
           "write time-out");
    expect(tulle_rwlock_unlock(&lock) == 0 && tulle_rwlock_trywrlock(&lock) == 0, "write");
    expect(tulle_rwlock_tryrdlock(&lock) == -EBUSY &&
               tulle_rwlock_timedrdlock(&lock, 1) == -ETIMEDOUT,
           "read time-out");
    tulle_rmutex_t recursive;
    expect(tulle_rmutex_init(&recursive) == 0 && tulle_rmutex_unlock(&recursive) == -EPERM,
           "not held");
    expect(tulle_rmutex_timedlock(&recursive, 1) == 0 && tulle_rmutex_timedlock(&recursive, 1) == 0,
           "again");
    expect(tulle_rmutex_destroy(&recursive) == -EBUSY, "held");
    tulle_spin_t busy;
    expect(tulle_spin_init(&busy) == 0 && tulle_spin_trylock(&busy) == 0 &&
               tulle_spin_trylock(&busy) == -EBUSY,
           "spin");
    expect(tulle_spin_timedlock(&busy, MILLISECOND) == -ETIMEDOUT, "spin time-out");
}

static void complete(void* count) { ++*(int*)count; }

static void test_phases(void) {
    int completed = 0;
    uint64_t phase = 0;
    tulle_phases_t p;
    expect(tulle_phases_init(&p, 2, complete, &completed) == 0 &&
               tulle_phases_arrive(&p, &phase) == 0,
           "arrive");
    expect(tulle_phases_trywait(&p, phase) == -EBUSY &&
               tulle_phases_timedwait(&p, phase, MILLISECOND) == -ETIMEDOUT,
           "not yet");
    expect(completed == 0 && tulle_phases_arrive(&p, NULL) == 0 && completed == 1, "complete");
    expect(tulle_phases_wait(&p, phase) == 0 && tulle_phases_trywait(&p, phase) == 0, "over");
    expect(tulle_phases_arrive_and_drop(&p) == 0 && tulle_phases_arrive_and_drop(&p) == 0 &&
               completed == 2,
           "dropped");
    expect(tulle_phases_arrive(&p, &phase) == -EPERM && tulle_phases_destroy(&p) == 0,
           "nobody is left");
}

static void test_channels(void) {
    tulle_channel_t* small = NULL;
    tulle_channel_t* large = NULL;
    int item = 0;
    expect(tulle_channel_create(&small, 0, 1) == -EINVAL &&
               tulle_channel_create(NULL, 4, 1) == -EINVAL,
           "values");
    expect(tulle_channel_create(&small, sizeof item, 1) == 0 &&
               tulle_channel_create(&large, 3, TULLE_UNBOUNDED) == 0,
           "create");
    expect(tulle_channel_tryreceive(small, &item) == -EBUSY &&
               tulle_channel_trysend(small, &(int){5}) == 0,
           "try");
    expect(tulle_channel_trysend(small, &item) == -EBUSY &&
               tulle_channel_timedsend(small, &item, MILLISECOND) == -ETIMEDOUT,
           "full");
    expect(tulle_channel_size(small) == 1 && tulle_channel_timedreceive(small, &item, 1) == 0 &&
               item == 5,
           "receive");
    expect(tulle_channel_timedreceive(small, &item, MILLISECOND) == -ETIMEDOUT, "empty");
    tulle_channel_case_t cases[2] = {{small, &item, 0, 0}, {large, "abc", 1, 0}};
    expect(tulle_channel_select(cases, 2) == 1 && cases[1].result == 0 && cases[0].result == -EBUSY,
           "select");
    char three[3];
    expect(tulle_channel_receive(large, three) == 0 && three[0] == 'a' && three[2] == 'c', "bytes");
    expect(tulle_channel_tryselect(cases, 1) == -EBUSY &&
               tulle_channel_timedselect(cases, 1, MILLISECOND) == -ETIMEDOUT,
           "none");
    expect(tulle_channel_select(cases, 0) == -EINVAL && tulle_channel_close(small) == 0, "close");
    expect(tulle_channel_select(cases, 1) == 0 && cases[0].result == -EPIPE,
           "a closed one is ready");
    tulle_channel_case_t many[12];
    for (int i = 0; i < 12; ++i) many[i] = (tulle_channel_case_t){large, three, 0, 0};
    expect(tulle_channel_tryselect(many, 12) == -EBUSY, "many cases");
    expect(tulle_channel_destroy(small) == 0 && tulle_channel_destroy(large) == 0, "destroy");
}

/* Each wait that takes a limit, with nothing to come. */
static void test_limits(tulle_limit_t const* limit, int reason) {
    static tulle_latch_t latch = TULLE_LATCH_INIT(1);
    static tulle_signal_t signal = TULLE_SIGNAL_INIT(1);
    static tulle_barrier_t barrier = TULLE_BARRIER_INIT(2);
    static tulle_mutex_t mutex = TULLE_MUTEX_INIT;
    static tulle_cond_t cond = TULLE_COND_INIT;
    static tulle_sem_t sem = TULLE_SEM_INIT(0);
    static tulle_rwlock_t lock = TULLE_RWLOCK_INIT;
    static tulle_spin_t held_spin = TULLE_SPIN_INIT;
    static tulle_rmutex_t recursive = TULLE_RMUTEX_INIT;
    static tulle_phases_t meeting = TULLE_PHASES_INIT(1);
    tulle_channel_t* channel = NULL;
    int item = 1;
    expect(tulle_latch_wait_within(&latch, limit) == reason &&
               tulle_signal_wait_within(&signal, limit) == reason,
           "latch, signal");
    expect(tulle_barrier_wait_within(&barrier, limit) == reason &&
               tulle_sem_wait_within(&sem, limit) == reason,
           "barrier, sem");
    expect(tulle_mutex_lock(&mutex) == 0 && tulle_cond_wait_within(&cond, &mutex, limit) == reason,
           "cond");
    expect(tulle_mutex_lock_within(&mutex, limit) == reason && tulle_mutex_unlock(&mutex) == 0,
           "mutex");
    expect(tulle_mutex_lock_within(&mutex, limit) == 0 && tulle_mutex_unlock(&mutex) == 0,
           "a free mutex");
    expect(tulle_rwlock_wrlock(&lock) == 0 && tulle_rwlock_wrlock_within(&lock, limit) == reason,
           "write");
    expect(tulle_rwlock_rdlock_within(&lock, limit) == reason && tulle_rwlock_unlock(&lock) == 0,
           "read");
    expect(tulle_spin_lock(&held_spin) == 0 && tulle_spin_lock_within(&held_spin, limit) == reason,
           "spin");
    expect(tulle_spin_unlock(&held_spin) == 0 && tulle_rmutex_lock_within(&recursive, limit) == 0,
           "recursive");
    expect(tulle_rmutex_unlock(&recursive) == 0 &&
               tulle_phases_wait_within(&meeting, 0, limit) == reason,
           "phases");
    expect(tulle_channel_create(&channel, sizeof item, 0) == 0, "create");
    expect(tulle_channel_send_within(channel, &item, limit) == reason, "send");
    expect(tulle_channel_receive_within(channel, &item, limit) == reason, "receive");
    tulle_channel_case_t one = {channel, &item, 0, 0};
    expect(tulle_channel_select_within(&one, 1, limit) == reason &&
               tulle_channel_destroy(channel) == 0,
           "select");
    expect(tulle_sleep_within(limit) == (reason == -ECANCELED ? reason : 0), "sleep");
}

static void test_cancellation(void) {
    tulle_cancellation_t* whole = NULL;
    tulle_cancellation_t* part = NULL;
    expect(tulle_cancellation_create(&whole, NULL) == 0 &&
               tulle_cancellation_create(&part, whole) == 0,
           "create");
    tulle_limit_t const brief = {MILLISECOND, part};
    test_limits(&brief, -ETIMEDOUT);
    expect(tulle_cancellation_is_requested(part) == 0 &&
               tulle_cancellation_timedwait(part, 1) == -ETIMEDOUT,
           "not yet");
    expect(tulle_cancellation_request_after(whole, MILLISECOND) == 0 &&
               tulle_cancellation_wait(part) == 0,
           "deadline");
    expect(tulle_cancellation_is_requested(part) == 1 &&
               tulle_cancellation_request(whole) == -EALREADY,
           "requested");
    tulle_limit_t const cancelled = {TULLE_FOREVER, part};
    test_limits(&cancelled, -ECANCELED);
    expect(tulle_cancellation_destroy(whole) == 0 && tulle_cancellation_destroy(part) == 0,
           "destroy");
}

static atomic_int calls;
static void count_call(void* by) { atomic_fetch_add(&calls, *(int*)by); }

static void* wait_for_latch(void* latch) {
    expect(tulle_latch_wait(latch) == 0, "latch");
    return latch;
}

static void test_joins(void) {
    tulle_latch_t latch = TULLE_LATCH_INIT(1);
    tulle_limit_t limit = {MILLISECOND, NULL};
    tulle_thread* thread = NULL;
    void* result = NULL;
    expect(tulle_spawn(&thread, NULL, wait_for_latch, &latch) == 0, "spawn");
    expect(tulle_thread_join_within(thread, &result, &limit) == -ETIMEDOUT, "join time-out");
    expect(tulle_cancellation_create(&limit.cancellation, NULL) == 0, "create");
    expect(tulle_cancellation_request(limit.cancellation) == 0, "request");
    limit.timeout_ns = TULLE_FOREVER;
    expect(tulle_thread_join_within(thread, &result, &limit) == -ECANCELED, "join cancelled");
    expect(tulle_thread_join_within(thread, &result, NULL) == -EINVAL, "no limit");
    expect(tulle_latch_count_down(&latch, 1) == 0 && tulle_thread_join(thread, &result) == 0 &&
               result == &latch,
           "join");
    expect(tulle_cancellation_destroy(limit.cancellation) == 0, "destroy");
}

/* A timer that its only call destroys. */
static tulle_timer_t* own_timer;
static void destroy_own(void* ended) {
    expect(own_timer != NULL && tulle_timer_destroy(own_timer) == 0, "destroyed by its call");
    own_timer = NULL;
    expect(tulle_latch_count_down(ended, 1) == 0, "count down");
}
static void test_timers_that_end_themselves(void) {
    for (uint64_t k = 0; k < 300; ++k) {
        tulle_latch_t ended;
        expect(tulle_latch_init(&ended, 1) == 0, "latch");
        expect(tulle_timer_start(&own_timer, 0, k % 2, destroy_own, &ended) == 0, "start");
        expect(tulle_latch_wait(&ended) == 0 && own_timer == NULL, "ended");
    }
}

static void test_timers(void) {
    tulle_timer_t* timer = NULL;
    int one = 1;
    expect(tulle_timer_start(&timer, MILLISECOND, 0, count_call, &one) == 0 &&
               tulle_timer_wait(timer) == 0,
           "start");
    expect(atomic_load(&calls) == 1 && tulle_timer_cancel(timer) == -EALREADY &&
               tulle_timer_destroy(timer) == 0,
           "called");
    expect(tulle_timer_start(&timer, TULLE_FOREVER, 0, count_call, &one) == 0 &&
               tulle_timer_cancel(timer) == 0,
           "cancel");
    expect(tulle_timer_destroy(timer) == 0 && atomic_load(&calls) == 1, "not called");
    expect(tulle_timer_start(&timer, 0, MILLISECOND, count_call, &one) == 0, "periodic");
    while (atomic_load(&calls) < 4) tulle_sleep_ns(MILLISECOND);
    expect(tulle_timer_destroy(timer) == 0 &&
               tulle_timer_start(&timer, 0, 0, NULL, NULL) == -EINVAL,
           "destroy");
}

int main(void) {
    test_together();
    test_tries_and_time_outs();
    test_phases();
    test_channels();
    test_cancellation();
    test_joins();
    test_timers();
    test_timers_that_end_themselves();
    return 0;
}
