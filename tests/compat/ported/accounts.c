/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary program for POSIX threads: transfers between accounts under static mutexes of several
 * kinds, readers and writers of a table, detached threads with attributes, and waits that time out.
 * The same program becomes one for TNT by its prefixes. Argument: threads. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ACCOUNTS = 8, TRANSFERS = 200, MOST_THREADS = 16, START = 1000 };

static pthread_mutex_t lock_low = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_high = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t end_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_ended = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t nested;
static int ended;
static int threads = 4;
static int nestings;
static long* accounts; /* the lower half under lock_low, the others under lock_high */
static long table[2] = {0, 0};

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static pthread_mutex_t* lock_of(int account) {
    return account < ACCOUNTS / 2 ? &lock_low : &lock_high;
}

static void transfer(int from, int to, long amount) {
    pthread_mutex_t* const first = lock_of(from < to ? from : to);
    pthread_mutex_t* const second = lock_of(from < to ? to : from);
    CHECK(pthread_mutex_lock(first) == 0);
    if (second != first) CHECK(pthread_mutex_lock(second) == 0);
    accounts[from] -= amount;
    accounts[to] += amount;
    if (second != first) CHECK(pthread_mutex_unlock(second) == 0);
    CHECK(pthread_mutex_unlock(first) == 0);
}

/* The table has two equal entries whenever nobody writes. */
static void read_and_write(int round) {
    CHECK(pthread_rwlock_rdlock(&table_lock) == 0);
    CHECK(table[0] == table[1]);
    CHECK(pthread_rwlock_unlock(&table_lock) == 0);
    if (round % 8 != 0) return;
    CHECK(pthread_rwlock_wrlock(&table_lock) == 0);
    ++table[0];
    ++table[1];
    CHECK(pthread_rwlock_unlock(&table_lock) == 0);
}

static void nest(int depth) {
    CHECK(pthread_mutex_lock(&nested) == 0);
    ++nestings;
    if (depth > 0) nest(depth - 1);
    CHECK(pthread_mutex_unlock(&nested) == 0);
}

static void* work(void* number) {
    unsigned state = (unsigned)(long)number + 1;
    pthread_t const self = pthread_self();
    CHECK(pthread_equal(self, pthread_self()));
    for (int k = 0; k < TRANSFERS; ++k) {
        state = state * 1103515245U + 12345U;
        transfer((int)(state >> 16U) % ACCOUNTS, (int)(state >> 20U) % ACCOUNTS, k % 10);
        read_and_write(k);
    }
    nest(3);
    pthread_mutex_lock(&end_lock);
    if (++ended == threads) pthread_cond_signal(&all_ended);
    pthread_mutex_unlock(&end_lock);
    return NULL;
}

static struct timespec after_ms(long ms) {
    struct timespec when;
    timespec_get(&when, TIME_UTC);
    when.tv_sec += ms / 1000;
    when.tv_nsec += ms % 1000 * 1000000;
    if (when.tv_nsec >= 1000000000) {
        ++when.tv_sec;
        when.tv_nsec -= 1000000000;
    }
    return when;
}

static void start_detached(long number) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 * 1024) == 0);
    CHECK(pthread_create(&thread, &attributes, work, (void*)number) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void make_nested(void) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&nested, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

int main(int argc, char** argv) {
    long sum = 0;
    if (argc > 1) threads = atoi(argv[1]);
    accounts = calloc(ACCOUNTS, sizeof *accounts);
    CHECK(accounts != NULL);
    for (int k = 0; k < ACCOUNTS; ++k) accounts[k] = START;
    make_nested();
    pthread_mutex_lock(&end_lock);
    struct timespec const soon = after_ms(20);
    CHECK(pthread_cond_timedwait(&all_ended, &end_lock, &soon) == ETIMEDOUT);
    for (long k = 0; k < threads; ++k) start_detached(k);
    struct timespec const late = after_ms(120000);
    while (ended != threads) CHECK(pthread_cond_timedwait(&all_ended, &end_lock, &late) == 0);
    pthread_mutex_unlock(&end_lock);
    for (int k = 0; k < ACCOUNTS; ++k) sum += accounts[k];
    CHECK(sum == (long)ACCOUNTS * START && nestings == 4 * threads);
    CHECK(table[0] == (long)threads * TRANSFERS / 8 && table[0] == table[1]);
    CHECK(pthread_mutex_trylock(&nested) == 0 && pthread_mutex_unlock(&nested) == 0);
    CHECK(pthread_mutex_destroy(&nested) == 0 && pthread_rwlock_destroy(&table_lock) == 0);
    free(accounts);
    printf("%ld in %d accounts\n", sum, ACCOUNTS);
    return 0;
}
