// SPDX-License-Identifier: Apache-2.0
// Policies, priorities and nice values are those of one thread.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* shows(void* title) {
    struct sched_param how = {-1};
    errno = 0;
    int const nice_value = getpriority(PRIO_PROCESS, 0);
    printf("%s: nice %d, errno %d, policy %d", (char const*)title, nice_value, errno,
           sched_getscheduler(0));
    int const error = sched_getparam(0, &how);
    printf(", %d, priority %d\n", error, how.sched_priority);
    return NULL;
}
static void show(char const* title) { shows((void*)title); }
static void* shows_in_child(void* title) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        shows(title);
        in_thread(&shows, title);
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
    return NULL;
}

static void set_nice_values(void) {
    pid_t const number = (pid_t)syscall(SYS_gettid);
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 7));
    SHOW_CALL(nice(2));
    in_thread(&shows, "created");
    shows_in_child("forked");
    SHOW_CALL(setpriority(PRIO_PROCESS, (id_t)number, 12));
    show("by number");
    SHOW_CALL(setpriority(PRIO_PROCESS, INT_MAX, 3));
    SHOW_CALL(setpriority((__priority_which_t)77, 0, 3));
    SHOW_CALL(syscall(SYS_setpriority, PRIO_PROCESS, 0, 13));
    show("by system call");
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 99));
    show("too nice");
    SHOW_CALL(nice(1000));
    SHOW_CALL(nice(-1000));
    show("not nice");
}
static void set_policies(void) {
    struct sched_param none = {0}, some = {5}, more = {6}, most = {100};
    struct timespec turn = {-1, -1};
    pid_t const number = (pid_t)syscall(SYS_gettid);
    SHOW_CALL(sched_setscheduler(0, SCHED_BATCH, &none));
    show("batch");
    in_thread(&shows, "created");
    SHOW_CALL(sched_setscheduler(number, SCHED_FIFO, &some));
    show("fifo");
    shows_in_child("forked");
    SHOW_CALL(sched_setparam(0, &more));
    show("more");
    SHOW_CALL(sched_setparam(0, &most));
    SHOW_CALL(sched_rr_get_interval(0, &turn));
    SHOW(turn.tv_sec == 0 && turn.tv_nsec == 0);
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO, &most));
    SHOW_CALL(sched_setscheduler(0, SCHED_OTHER, &some));
    SHOW_CALL(sched_setscheduler(0, 55, &none));
    SHOW_CALL(sched_setscheduler(0, -1, &none));
    SHOW_CALL(sched_setscheduler(0, SCHED_OTHER, NULL));
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &some));
    show("reset");
    in_thread(&shows, "created");
    SHOW_CALL(sched_setscheduler(0, SCHED_RR, &some));
    SHOW_CALL(sched_rr_get_interval(0, &turn));
    SHOW(turn.tv_sec == 0 && turn.tv_nsec > 0);
    SHOW_CALL(sched_setscheduler(-1, SCHED_RR, &some));
    SHOW_CALL(sched_getscheduler(-1));
    SHOW_CALL(sched_getparam(0, NULL));
    SHOW_CALL(sched_setscheduler(0, SCHED_IDLE, &none));
    show("idle");
}
static void set_io_priorities(void) {
    enum { k_thread = 1, k_least_of_best_effort = 2 << 13 | 7 };
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, k_least_of_best_effort));
    SHOW_CALL(syscall(SYS_ioprio_get, k_thread, 0));
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 5));
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 7 << 13));
    SHOW_CALL(syscall(SYS_ioprio_get, k_thread, 0));
}

static void* sets(void* unused) {
    show("first");
    set_nice_values();
    set_policies();
    set_io_priorities();
    return unused;
}
// Who has not got the right to it may only become nicer.
static void* sets_without_rights(void* unused) {
    struct sched_param some = {5}, none = {0};
    SHOW_CALL(nice(3));
    SHOW_CALL(nice(-1));
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 1));
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 4));
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO, &some));
    SHOW(pthread_setschedparam(pthread_self(), SCHED_RR, &some) == EPERM);
    SHOW_CALL(sched_setscheduler(0, SCHED_IDLE, &none));
    SHOW_CALL(sched_setscheduler(0, SCHED_OTHER, &none));
    show("without rights");
    return unused;
}
static pthread_barrier_t s_barrier;
static void* shows_afterwards(void* title) {
    pthread_barrier_wait(&s_barrier);
    pthread_barrier_wait(&s_barrier);
    return shows(title);
}
void scheduling_of_one_thread(void) {
    struct sched_param const none = {0};
    pthread_t other;
    pthread_barrier_init(&s_barrier, NULL, 2);
    pthread_create(&other, NULL, &shows_afterwards, "other");
    pthread_barrier_wait(&s_barrier);
    in_thread(&sets, NULL);
    pthread_barrier_wait(&s_barrier);
    pthread_join(other, NULL);
    show("main");
    in_thread(&shows, "next");
    SHOW_CALL(sched_setscheduler(0, SCHED_BATCH, &none));
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 4));
    in_thread(&shows, "of main");
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        struct rlimit const no = {0, 0};
        setrlimit(RLIMIT_NICE, &no);
        setrlimit(RLIMIT_RTPRIO, &no);
        if (geteuid() == 0 && setuid(65534) != 0) abort();
        in_thread(&sets_without_rights, NULL);
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
}
