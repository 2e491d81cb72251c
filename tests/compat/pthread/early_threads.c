// SPDX-License-Identifier: Apache-2.0
// A library whose constructor makes threads and has handlers of forks, as that of OpenBLAS does,
// which the dynamic linker calls before the constructors of other libraries that are loaded first.
// Its threads live as long as the process, or until it forks.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { k_threads = 3 };

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_changed = PTHREAD_COND_INITIALIZER;
static pthread_t s_threads[k_threads];
static int s_started, s_ends;

static void* work(void* unused) {
    pthread_mutex_lock(&s_lock);
    ++s_started;
    pthread_cond_broadcast(&s_changed);
    while (!s_ends) pthread_cond_wait(&s_changed, &s_lock);
    pthread_mutex_unlock(&s_lock);
    return unused;
}

static void begin_threads(void) {
    s_started = s_ends = 0;
    for (int k = 0; k < k_threads; ++k) pthread_create(&s_threads[k], NULL, &work, NULL);
    pthread_mutex_lock(&s_lock);
    while (s_started != k_threads) pthread_cond_wait(&s_changed, &s_lock);
    pthread_mutex_unlock(&s_lock);
}

static void end_threads(void) {
    pthread_mutex_lock(&s_lock);
    s_ends = 1;
    pthread_cond_broadcast(&s_changed);
    pthread_mutex_unlock(&s_lock);
    for (int k = 0; k < k_threads; ++k) pthread_join(s_threads[k], NULL);
}

static void handle(int signal) { (void)signal; }

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR2, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_atfork(end_threads, begin_threads, begin_threads);
    begin_threads();
    printf("threads before main: %d\n", s_started);
    fflush(stdout);
}
