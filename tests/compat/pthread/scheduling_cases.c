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

// By its limits; capabilities are others.
static void may_raise_nothing(void) {
    struct rlimit const no = {0, 0};
    setrlimit(RLIMIT_NICE, &no);
    setrlimit(RLIMIT_RTPRIO, &no);
}

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

// For a call at once: after a wait the number may be that of another worker.
static pid_t own_number(void) { return (pid_t)syscall(SYS_gettid); }

static void set_nice_values(void) {
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 7));
    SHOW_CALL(nice(2));
    in_thread(&shows, "created");
    shows_in_child("forked");
    SHOW_CALL(setpriority(PRIO_PROCESS, (id_t)own_number(), 12));
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
    SHOW_CALL(sched_setscheduler(0, SCHED_BATCH, &none));
    show("batch");
    in_thread(&shows, "created");
    SHOW_CALL(sched_setscheduler(own_number(), SCHED_FIFO, &some));
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
static int s_has_hints; // the kernel takes them, and leaves alone what is beyond (Linux 6.5)
static void set_io_priorities(void) {
    enum { k_thread = 1, k_least_of_best_effort = 2 << 13 | 7 };
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, k_least_of_best_effort));
    SHOW_CALL(syscall(SYS_ioprio_get, k_thread, 0));
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 5));
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 7 << 13));
    SHOW_CALL(syscall(SYS_ioprio_get, k_thread, 0));
    if (!s_has_hints) return;
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 8 << 13));
    SHOW_CALL(syscall(SYS_ioprio_get, k_thread, 0));
    SHOW_CALL(syscall(SYS_ioprio_set, k_thread, 0, 2 << 13 | 1 << 3 | 1)); // with a hint
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
    s_has_hints = syscall(SYS_ioprio_set, 1, 0, 8 << 13) == 0;
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
        may_raise_nothing();
        if (geteuid() == 0 && setuid(65534) != 0) abort();
        in_thread(&sets_without_rights, NULL);
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
}

// --- what others begin with ----------------------------------------------------------------------

enum { k_of_thread = 1, k_best_effort = 2 << 13 };
static void* shows_all(void* title) {
    shows(title);
    SHOW_CALL(syscall(SYS_ioprio_get, k_of_thread, 0));
    return NULL;
}
static void create_explicitly(char const* title) {
    pthread_attr_t as_asked;
    pthread_t t;
    pthread_attr_init(&as_asked);
    pthread_attr_setinheritsched(&as_asked, PTHREAD_EXPLICIT_SCHED);
    pthread_create(&t, &as_asked, &shows_all, (void*)title);
    pthread_join(t, NULL);
    pthread_attr_destroy(&as_asked);
}
static void* changes_own(void* unused) {
    struct sched_param how = {2};
    int policy = -1;
    SHOW(pthread_getschedparam(pthread_self(), &policy, &how));
    printf("policy %d, priority %d\n", policy, how.sched_priority);
    how.sched_priority = 2;
    SHOW(pthread_setschedparam(pthread_self(), SCHED_RR, &how));
    SHOW(pthread_setschedprio(pthread_self(), 3));
    shows_all("changed");
    in_thread(&shows_all, "changed, created");
    return unused;
}
static void fork_and_change(char const* title) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        shows_all((void*)title);
        in_thread(&shows_all, (void*)title);
        SHOW_CALL(nice(1));
        in_thread(&shows_all, "nicer");
        changes_own(NULL);
        fflush(stdout);
        pid_t const grandchild = fork();
        if (grandchild == 0) {
            shows_all("child of child");
            fflush(stdout);
            _exit(0);
        }
        SHOW(end_of(grandchild));
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
}
static void* begins_with(void* unused) {
    struct sched_param const some = {5}, more = {6};
    shows_all("inherited");
    create_explicitly("explicit");
    SHOW_CALL(syscall(SYS_ioprio_set, k_of_thread, 0, k_best_effort | 3));
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO, &some));
    create_explicitly("explicit, from fifo");
    fork_and_change("forked");
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO, &more));
    fork_and_change("forked with more");
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &some));
    in_thread(&shows_all, "reset");
    create_explicitly("explicit, reset");
    fork_and_change("forked and reset");
    return unused;
}
static void* calls_by_number(void* unused) {
    struct sched_param how = {5};
    struct timespec turn = {-1, -1};
    SHOW_CALL(syscall(SYS_setpriority, PRIO_PROCESS, 0, 4));
    SHOW_CALL(syscall(SYS_getpriority, PRIO_PROCESS, 0));
    SHOW_CALL(syscall(SYS_getpriority, PRIO_PROCESS, -1));
    SHOW_CALL(syscall(SYS_getpriority, 77, 0));
    SHOW_CALL(syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &how));
    SHOW_CALL(syscall(SYS_sched_getscheduler, 0));
    SHOW_CALL(syscall(SYS_sched_rr_get_interval, 0, &turn));
    SHOW(turn.tv_sec == 0 && turn.tv_nsec == 0);
    how.sched_priority = 7;
    SHOW_CALL(syscall(SYS_sched_setparam, 0, &how));
    how.sched_priority = 0;
    SHOW_CALL(syscall(SYS_sched_getparam, 0, &how));
    SHOW(how.sched_priority);
    shows_all("by numbers");
    return unused;
}
static void* sets_nothing(void* unused) {
    struct sched_param const* volatile none = NULL; // which compilers warn of
    SHOW(pthread_setschedparam(pthread_self(), SCHED_OTHER, none) == EINVAL);
    return unused;
}
void scheduling_of_the_made(void) {
    in_thread(&calls_by_number, NULL);
    shows_all("main");
    SHOW_CALL(setpriority(PRIO_PROCESS, 0, 5));
    SHOW_CALL(syscall(SYS_ioprio_set, k_of_thread, 0, k_best_effort | 6));
    in_thread(&begins_with, NULL);
    shows_all("main");
    in_both(&sets_nothing);
}
static void* becomes_less_nice(void* unused) {
    struct sched_param const some = {5};
    SHOW_CALL(nice(-5));
    SHOW_CALL(sched_setscheduler(0, SCHED_FIFO, &some));
    SHOW_CALL(syscall(SYS_ioprio_set, k_of_thread, 0, 1 << 13));
    show("other users");
    return unused;
}
// All capabilities in a name space of users are none for this.
void scheduling_among_other_users(void) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        may_raise_nothing();
        if (unshare(CLONE_NEWUSER) == 0) in_thread(&becomes_less_nice, NULL);
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
}
