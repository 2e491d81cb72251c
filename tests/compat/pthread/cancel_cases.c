// SPDX-License-Identifier: Apache-2.0
// Cancellations of main, and of other threads that stay the C library's.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_cond = PTHREAD_COND_INITIALIZER;
static sem_t s_semaphore;
static int s_pipe[2];

static void* do_nothing(void* result) { return result; }
static void* wait_for_cond(void* unused) {
    pthread_mutex_lock(&s_mutex);
    pthread_cond_wait(&s_cond, &s_mutex);
    pthread_mutex_unlock(&s_mutex);
    return unused;
}
static void* wait_for_semaphore(void* unused) {
    while (sem_wait(&s_semaphore) != 0) {}
    return unused;
}
static void* wait_for_input(void* unused) {
    char byte;
    return read(s_pipe[0], &byte, 1) < 0 ? &s_pipe : unused; // another file, perhaps
}

// --- calls that are no cancellation points -------------------------------------------------------

static pthread_t s_reader;
static int s_done;

// In the place of output, which may be a cancellation point.
static void end_child(void* unused) {
    (void)unused;
    _exit(s_done);
}

// The status of a child whose main thread is cancelled and calls `act` before it looks: 1 if it
// comes back from that.
static int end_of_pending(void (*act)(void), int has_threads) {
    fflush(stdout);
    pid_t const child = fork();
    if (child != 0) return end_of(child);
    alarm(30);
    if (pipe(s_pipe) != 0 || sem_init(&s_semaphore, 0, 0) != 0) abort();
    pthread_t t;
    if (has_threads) {
        pthread_create(&t, NULL, wait_for_semaphore, NULL);
        pthread_create(&t, NULL, wait_for_cond, NULL);
        pthread_create(&s_reader, NULL, wait_for_input, NULL);
        usleep(50000);
    }
    pthread_cleanup_push(end_child, NULL);
    pthread_cancel(pthread_self());
    act();
    s_done = 1;
    pthread_testcancel();
    pthread_cleanup_pop(0);
    _exit(98);
}

static void make_thread(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, do_nothing, NULL) != 0) abort();
}
static void make_threads(void) {
    for (int k = 0; k < 100; ++k) make_thread();
}
static void post(void) { sem_post(&s_semaphore); }
static void broadcast(void) {
    pthread_mutex_lock(&s_mutex);
    pthread_cond_broadcast(&s_cond);
    pthread_mutex_unlock(&s_mutex);
}
static void cancel_reader(void) { pthread_cancel(s_reader); }
static void signal_reader(void) {
    signal(SIGUSR1, SIG_IGN);
    pthread_kill(s_reader, SIGUSR1);
}
static void replace_file(void) {
    if (dup2(0, s_pipe[0]) < 0) abort();
}
static void fork_child(void) {
    pid_t const child = fork();
    if (child == 0) {
        make_thread();
        _exit(0);
    }
}
static void run_locks(void) {
    for (int k = 0; k < 100; ++k) {
        pthread_mutex_lock(&s_mutex);
        sched_yield();
        pthread_mutex_unlock(&s_mutex);
    }
}

void pending_in_main(void) {
    SHOW(end_of_pending(make_thread, 0));
    SHOW(end_of_pending(make_threads, 1));
    SHOW(end_of_pending(post, 1));
    SHOW(end_of_pending(broadcast, 1));
    SHOW(end_of_pending(cancel_reader, 1));
    SHOW(end_of_pending(signal_reader, 1));
    SHOW(end_of_pending(replace_file, 1));
    SHOW(end_of_pending(fork_child, 1));
    SHOW(end_of_pending(run_locks, 1));
}

// --- calls that are cancellation points ----------------------------------------------------------

static void close_file(void) { close(s_pipe[1]); }
static void lock_file(void) {
    struct flock all = {.l_type = F_WRLCK};
    FILE* const file = tmpfile();
    fcntl(fileno(file), F_SETLKW, &all);
}

void points_of_main(void) {
    SHOW(end_of_pending(close_file, 0));
    SHOW(end_of_pending(close_file, 1));
    SHOW(end_of_pending(lock_file, 0));
    SHOW(end_of_pending(lock_file, 1));
}
