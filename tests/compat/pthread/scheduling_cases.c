// SPDX-License-Identifier: Apache-2.0
// Policies, priorities and nice values are those of one thread.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

// --- in one structure ----------------------------------------------------------------------------

// The kernel's, of which older headers have none, and 8 bytes more than that.
struct all_of_scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t times[3];
    uint32_t utilization[2];
    uint64_t beyond;
};
enum { k_first_size = 48, k_known_size = 56 };
enum { k_reset_on_fork = 1, k_keep_policy = 8, k_keep_params = 16, k_no_flag = 1 << 20 };

static void show_attributes(char const* title) {
    struct all_of_scheduling found = {0};
    long const told = syscall(SYS_sched_getattr, 0, &found, k_first_size, 0);
    printf("%s: %ld, policy %u, flags %d, nice %d, priority %u\n", title, told, found.policy,
           (int)found.flags, found.nice, found.priority);
    show(title);
}
#define SET_ATTRIBUTES(...)                                                                        \
    do {                                                                                           \
        struct all_of_scheduling chosen = {__VA_ARGS__};                                           \
        SHOW_CALL(syscall(SYS_sched_setattr, 0, &chosen, 0));                                      \
        show_attributes(#__VA_ARGS__);                                                             \
    } while (0)

static void* sets_attributes(void* unused) {
    struct all_of_scheduling wanted = {.size = 8};
    struct all_of_scheduling found = {0};
    show_attributes("first");
    SET_ATTRIBUTES(.nice = 3);
    SET_ATTRIBUTES(.size = k_first_size, .policy = SCHED_BATCH, .nice = 30);
    SET_ATTRIBUTES(.policy = SCHED_IDLE, .nice = 2);
    SET_ATTRIBUTES(.policy = SCHED_FIFO, .priority = 5, .nice = 1);
    SET_ATTRIBUTES(.policy = SCHED_RR, .flags = k_keep_policy, .priority = 6);
    SET_ATTRIBUTES(.policy = SCHED_RR, .flags = k_reset_on_fork | k_keep_params);
    in_thread(&shows, "reset");
    SET_ATTRIBUTES(.policy = SCHED_FIFO, .priority = 0);
    SET_ATTRIBUTES(.policy = SCHED_FIFO, .priority = 100);
    SET_ATTRIBUTES(.policy = SCHED_FIFO | SCHED_RESET_ON_FORK, .priority = 5);
    SET_ATTRIBUTES(.policy = 77);
    SET_ATTRIBUTES(.policy = UINT32_MAX, .flags = k_keep_policy);
    SET_ATTRIBUTES(.policy = SCHED_OTHER, .flags = k_no_flag);
    SET_ATTRIBUTES(.size = 64, .policy = SCHED_OTHER, .nice = 4);
    SET_ATTRIBUTES(.size = 64, .policy = SCHED_OTHER, .nice = 5, .beyond = 1);
    SET_ATTRIBUTES(.size = 5000, .policy = SCHED_OTHER, .nice = 6);
    SHOW_CALL(syscall(SYS_sched_setattr, 0, &wanted, 0));
    SHOW(wanted.size == k_first_size || wanted.size >= k_known_size);
    SHOW_CALL(syscall(SYS_sched_setattr, 0, NULL, 0));
    SHOW_CALL(syscall(SYS_sched_setattr, 0, (void*)64, 0));
    SHOW_CALL(syscall(SYS_sched_setattr, 0, &wanted, 1));
    SHOW_CALL(syscall(SYS_sched_setattr, -1, &wanted, 0));
    SHOW_CALL(syscall(SYS_sched_getattr, 0, NULL, k_first_size, 0));
    SHOW_CALL(syscall(SYS_sched_getattr, 0, (void*)64, k_first_size, 0));
    SHOW_CALL(syscall(SYS_sched_getattr, 0, &found, 8, 0));
    SHOW_CALL(syscall(SYS_sched_getattr, 0, &found, k_first_size, 1));
    return unused;
}
static void* sets_attributes_without_rights(void* unused) {
    SET_ATTRIBUTES(.nice = 5);
    SET_ATTRIBUTES(.nice = 3);
    SET_ATTRIBUTES(.policy = SCHED_FIFO, .priority = 5);
    SET_ATTRIBUTES(.flags = k_reset_on_fork, .nice = 6);
    SET_ATTRIBUTES(.nice = 6);
    SET_ATTRIBUTES(.policy = 6, .times = {1000000, 2000000, 2000000});
    return unused;
}
void attributes_of_scheduling(void) {
    in_thread(&sets_attributes, NULL);
    show("main");
    in_thread(&shows, "next");
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        may_raise_nothing();
        if (geteuid() == 0 && setuid(65534) != 0) abort();
        in_thread(&sets_attributes_without_rights, NULL);
        fflush(stdout);
        _exit(0);
    }
    SHOW(end_of(child));
}

// --- what else the system has of each thread -----------------------------------------------------

static void keep_to(int processor) {
    unsigned long words[64] = {0};
    words[(size_t)processor / (8 * sizeof *words)] = 1UL << (size_t)processor % (8 * sizeof *words);
    SHOW_CALL(syscall(SYS_sched_setaffinity, 0, sizeof words, words));
}
// How many processors its OS thread may run on, as the kernel tells in a file.
static int processors_of_os_thread(void) {
    char line[4096], path[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)own_number());
    FILE* const status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "Cpus_allowed:", 13) == 0)
            for (char const* at = line + 13; *at != '\0'; ++at) {
                char const digit[] = {*at, '\0'};
                found += __builtin_popcountl(strtoul(digit, NULL, 16));
            }
    if (status != NULL) fclose(status);
    return found;
}
static int s_processors;
static void* shows_processors(void* unused) {
    SHOW(processors_of_os_thread() == s_processors);
    return unused;
}
static void* calls_of_the_thread(void* unused) {
    unsigned long before[64] = {0}, words[64] = {0};
    char name[16] = "";
    struct rusage usage;
    struct timespec spent = {-1, -1};
    long const bytes = syscall(SYS_sched_getaffinity, 0, sizeof before, before);
    SHOW(bytes > 0 && bytes <= (long)sizeof before);
    SHOW(syscall(SYS_sched_getaffinity, own_number(), sizeof words, words) == bytes);
    SHOW(memcmp(before, words, sizeof words));
    SHOW_CALL(syscall(SYS_sched_getaffinity, 0, 1, words));
    SHOW_CALL(syscall(SYS_sched_getaffinity, 0, sizeof words, NULL));
    SHOW_CALL(syscall(SYS_sched_setaffinity, 0, sizeof words, NULL));
    SHOW_CALL(syscall(SYS_sched_setaffinity, 0, 0, words));
    SHOW_CALL(syscall(SYS_prctl, PR_SET_NAME, "by system call", 0, 0, 0));
    SHOW_CALL(syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0));
    SHOW(pthread_getname_np(pthread_self(), name, sizeof name));
    puts(name);
    SHOW_CALL(syscall(SYS_getrusage, RUSAGE_THREAD, &usage));
    SHOW_CALL(syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &spent));
    SHOW(usage.ru_utime.tv_sec == 0 && spent.tv_sec == 0);
    return unused;
}
static void* keeps_to_one(void* unused) {
    cpu_set_t all;
    int first = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET((size_t)first, &all)) ++first;
    keep_to(first);
    return unused;
}
static void* is_named_by_creator(void* unused) {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    SHOW(strcmp(name, "by system call"));
    return unused;
}
void system_calls_for_one_thread(void) {
    s_processors = processors_of_os_thread();
    in_thread(&calls_of_the_thread, NULL);
    in_thread(&is_named_by_creator, NULL);
    for (int k = 0; k != 4; ++k) {
        in_thread(&keeps_to_one, NULL);
        in_thread(&shows_processors, NULL);
    }
}
