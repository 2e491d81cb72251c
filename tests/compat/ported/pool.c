/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary program for POSIX threads: a pool of threads that takes jobs from a queue, counts the
 * primes of each job's range, and adds up what it finds. The same program becomes one for TNT by
 * its prefixes. Argument: threads. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANGES = 64, RANGE = 500, MOST_THREADS = 16 };

struct job {
    struct job* next;
    long from;
    long to;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t is_idle = PTHREAD_COND_INITIALIZER;
static struct job* jobs;
static int unfinished;
static int stops;
static long primes;
static long of_thread[MOST_THREADS];

static int is_prime(long n) {
    if (n < 2) return 0;
    for (long k = 2; k * k <= n; ++k)
        if (n % k == 0) return 0;
    return 1;
}

static struct job* take(void) {
    pthread_mutex_lock(&lock);
    while (jobs == NULL && !stops) pthread_cond_wait(&has_work, &lock);
    struct job* const found = jobs;
    if (found != NULL) jobs = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static void* work(void* number) {
    long* const own = &of_thread[(long)number];
    struct job* job;
    while ((job = take()) != NULL) {
        long found = 0;
        for (long n = job->from; n < job->to; ++n) found += is_prime(n);
        free(job);
        *own += found;
        pthread_mutex_lock(&lock);
        primes += found;
        if (--unfinished == 0) pthread_cond_signal(&is_idle);
        pthread_mutex_unlock(&lock);
    }
    return (void*)*own;
}

static void submit(long from) {
    struct job* const made = malloc(sizeof *made);
    if (made == NULL) abort();
    made->from = from;
    made->to = from + RANGE;
    pthread_mutex_lock(&lock);
    made->next = jobs;
    jobs = made;
    ++unfinished;
    pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char** argv) {
    int const threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t all[MOST_THREADS];
    long sum = 0;
    for (long k = 0; k < threads; ++k)
        if (pthread_create(&all[k], NULL, work, (void*)k) != 0) return 2;
    for (long k = 0; k < RANGES; ++k) submit(k * RANGE);
    pthread_mutex_lock(&lock);
    while (unfinished != 0) pthread_cond_wait(&is_idle, &lock);
    stops = 1;
    pthread_cond_broadcast(&has_work);
    pthread_mutex_unlock(&lock);
    for (int k = 0; k < threads; ++k) {
        void* found = NULL;
        if (pthread_join(all[k], &found) != 0) return 3;
        sum += (long)found;
    }
    printf("%ld primes below %d\n", primes, RANGES * RANGE);
    return primes == sum && primes == 3432 ? 0 : 1;
}
