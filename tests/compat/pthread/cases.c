// SPDX-License-Identifier: Apache-2.0
// Cases of POSIX threads, by name; each prints what it has seen, which is the same with any threads
// that follow the standard. Without a name, the names.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_cond = PTHREAD_COND_INITIALIZER;
static __thread int t_value = 7;
static int s_count;

struct timespec in_ms_of(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

void* in_thread(void* (*f)(void*), void* argument) {
    pthread_t t;
    void* result = NULL;
    if (pthread_create(&t, NULL, f, argument) != 0 || pthread_join(t, &result) != 0) abort();
    return result;
}

void in_both(void* (*f)(void*)) {
    in_thread(f, NULL);
    f(NULL);
}

int end_of(pid_t child) {
    int status = -1;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// --- life ----------------------------------------------------------------------------------------

void* add_own(void* argument) {
    t_value += (int)(intptr_t)argument;
    sched_yield();
    errno = t_value;
    for (int k = 0; k < 20; ++k) sched_yield();
    return (void*)(intptr_t)(errno == t_value ? t_value : -1);
}

static void variables(void) {
    pthread_t t[200];
    long sum = 0;
    for (intptr_t k = 0; k < 200; ++k) pthread_create(&t[k], NULL, add_own, (void*)k);
    for (int k = 0; k < 200; ++k) {
        void* result = NULL;
        pthread_join(t[k], &result);
        sum += (long)(intptr_t)result;
    }
    printf("sum %ld, own %d\n", sum, t_value);
}

void* wait_for_count(void* argument) {
    (void)argument;
    pthread_mutex_lock(&s_mutex);
    while (s_count == 0) pthread_cond_wait(&s_cond, &s_mutex);
    pthread_mutex_unlock(&s_mutex);
    return (void*)42;
}

void set_count(void) {
    pthread_mutex_lock(&s_mutex);
    s_count = 1;
    pthread_cond_broadcast(&s_cond);
    pthread_mutex_unlock(&s_mutex);
}

static void joins(void) {
    pthread_t t;
    void* result = NULL;
    pthread_create(&t, NULL, wait_for_count, NULL);
    SHOW(pthread_tryjoin_np(t, &result) == EBUSY);
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    SHOW(pthread_timedjoin_np(t, &result, &soon) == ETIMEDOUT);
    SHOW(pthread_kill(t, 0));
    SHOW(pthread_kill(t, 1000) == EINVAL);
    set_count();
    SHOW(pthread_join(t, &result));
    SHOW((intptr_t)result);
    SHOW(pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void* join_self(void* argument) {
    (void)argument;
    return (void*)(intptr_t)pthread_join(pthread_self(), NULL);
}

static void* post(void* s) {
    sem_post(s);
    return NULL;
}

static void detached(void) {
    pthread_attr_t how;
    pthread_attr_init(&how);
    SHOW(pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED));
    sem_t done;
    sem_init(&done, 0, 0);
    pthread_t t;
    SHOW(pthread_create(&t, &how, post, &done));
    while (sem_wait(&done) != 0) {}
    SHOW((intptr_t)in_thread(join_self, NULL) == EDEADLK);
    pthread_create(&t, NULL, wait_for_count, NULL);
    SHOW(pthread_detach(t));
    SHOW(pthread_join(t, NULL) == EINVAL);
    SHOW(pthread_detach(t) == EINVAL);
    set_count();
    usleep(20000);
}

static void note(void* text) { printf("handler %s\n", (char*)text); }

static void* exit_deep(void* argument) {
    pthread_cleanup_push(note, "outer");
    pthread_cleanup_push(note, "inner");
    pthread_cleanup_push(note, "popped");
    pthread_cleanup_pop(1);
    pthread_exit(argument);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void exits(void) { SHOW((intptr_t)in_thread(exit_deep, (void*)11)); }

static void* exit_late(void* argument) {
    (void)argument;
    usleep(30000);
    puts("the last thread ends");
    return NULL;
}

static void main_exits(void) {
    pthread_t t;
    pthread_create(&t, NULL, exit_late, NULL);
    pthread_exit(NULL);
}

static void unlock(void* m) { pthread_mutex_unlock(m); }

static void* cancelled_in(void* way) {
    pthread_cleanup_push(note, "of the cancelled");
    int ends[2];
    char byte;
    sem_t never;
    switch ((intptr_t)way) {
        case 0:
            pthread_mutex_lock(&s_mutex);
            pthread_cleanup_push(unlock, &s_mutex);
            while (s_count == 0) pthread_cond_wait(&s_cond, &s_mutex);
            pthread_cleanup_pop(1);
            break;
        case 1: sleep(100); break;
        case 2:
            sem_init(&never, 0, 0);
            sem_wait(&never);
            break;
        case 3:
            if (pipe(ends) != 0 || read(ends[0], &byte, 1) < 0) abort();
            break;
        case 4: poll(NULL, 0, 100000); break;
        default:
            for (;;) pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancels(void) {
    for (intptr_t way = 0; way != 5; ++way) {
        pthread_t t;
        void* result = NULL;
        pthread_create(&t, NULL, cancelled_in, (void*)way);
        usleep(10000);
        int const error = pthread_cancel(t);
        pthread_join(t, &result);
        SHOW(error);
        SHOW(result == PTHREAD_CANCELED);
    }
    SHOW(pthread_mutex_trylock(&s_mutex));
}

static void* cancel_states(void* argument) {
    int before = -1;
    SHOW(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
    SHOW(before == PTHREAD_CANCEL_ENABLE);
    SHOW(pthread_setcancelstate(99, NULL) == EINVAL);
    SHOW(pthread_setcanceltype(99, NULL) == EINVAL);
    pthread_cancel(pthread_self());
    pthread_testcancel();
    puts("not yet");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
    puts("not reached");
    return argument;
}

static void states(void) { SHOW(in_thread(cancel_states, NULL) == PTHREAD_CANCELED); }

// --- keys ----------------------------------------------------------------------------------------

static pthread_key_t s_key;
static void destroy(void* value) {
    printf("value %d\n", (int)(intptr_t)value);
    if ((intptr_t)value > 1) pthread_setspecific(s_key, (void*)((intptr_t)value - 1));
}
static void* with_value(void* argument) {
    SHOW(pthread_getspecific(s_key) == NULL);
    SHOW(pthread_setspecific(s_key, argument));
    SHOW((intptr_t)pthread_getspecific(s_key));
    return NULL;
}
static void keys(void) {
    SHOW(pthread_key_create(&s_key, destroy));
    in_thread(with_value, (void*)3);
    in_thread(with_value, (void*)1);
    SHOW(pthread_key_delete(s_key));
    pthread_key_t many[100];
    for (int k = 0; k < 100; ++k) pthread_key_create(&many[k], NULL);
    s_key = many[99];
    in_thread(with_value, (void*)5);
    in_thread(with_value, (void*)6);
}

// --- input and output ----------------------------------------------------------------------------

static int s_ends[2];
static void* echo(void* argument) {
    (void)argument;
    char buffer[300];
    ssize_t size;
    while ((size = read(s_ends[1], buffer, sizeof buffer)) > 0) {
        if (write(s_ends[1], buffer, (size_t)size) != size) abort();
    }
    return (void*)(intptr_t)size;
}

static void* send_much(void* argument) {
    static char much[1 << 20];
    memset(much, 'x', sizeof much);
    return (void*)(intptr_t)write(*(int*)argument, much, sizeof much);
}

static void streams(void) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends);
    pthread_t t;
    pthread_create(&t, NULL, echo, NULL);
    char buffer[16] = "";
    for (int k = 0; k < 100; ++k) {
        if (send(s_ends[0], "hello", 5, 0) != 5 || recv(s_ends[0], buffer, 5, MSG_WAITALL) != 5)
            abort();
    }
    puts(buffer);
    shutdown(s_ends[0], SHUT_WR);
    void* result = &t;
    pthread_join(t, &result);
    SHOW(result == NULL);
    int ends[2];
    if (pipe(ends) != 0) abort();
    pthread_create(&t, NULL, send_much, &ends[1]);
    char page[5000];
    ssize_t got = 0, all = 0;
    while (all != 1 << 20 && (got = read(ends[0], page, sizeof page)) > 0) all += got;
    pthread_join(t, &result);
    printf("%zd, %d\n", all, (int)(intptr_t)result);
}

static int s_asks_for_ever;
static void* asks(void* argument) {
    int const number = *(int*)argument;
    struct pollfd asked[2] = {{number, POLLIN, 0}, {number, POLLIN | POLLPRI, 0}};
    SHOW(poll(asked, 2, 10));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(number, &set);
    struct timeval time = {0, 10000};
    SHOW(select(number + 1, &set, NULL, NULL, &time));
    __atomic_store_n(&s_asks_for_ever, 1, __ATOMIC_RELEASE);
    SHOW(poll(asked, 1, -1));
    SHOW(asked[0].revents == POLLIN);
    FD_SET(number, &set);
    SHOW(select(number + 1, &set, NULL, NULL, NULL));
    SHOW(FD_ISSET(number, &set) != 0);
    int const all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 9};
    epoll_ctl(all, EPOLL_CTL_ADD, number, &event);
    SHOW(epoll_wait(all, &event, 1, -1));
    char byte;
    SHOW(read(number, &byte, 1));
    SHOW(epoll_wait(all, &event, 1, 10));
    struct timeval const limit = {0, 10000};
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    SHOW(recv(number, &byte, 1, 0) == -1 && errno == EAGAIN);
    SHOW(read(-1, &byte, 1) == -1 && errno == EBADF);
    return NULL;
}

static void polls(void) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends);
    pthread_t t;
    pthread_create(&t, NULL, asks, &s_ends[0]);
    while (__atomic_load_n(&s_asks_for_ever, __ATOMIC_ACQUIRE) == 0) usleep(1000);
    usleep(20000); // it waits by now, most times
    if (write(s_ends[1], "a", 1) != 1) abort();
    pthread_join(t, NULL);
}

// --- the rest ------------------------------------------------------------------------------------

static void* fork_here(void* argument) {
    (void)argument;
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        void* const result = in_thread(add_own, (void*)2);
        _exit((intptr_t)result == 9 ? 5 : 6);
    }
    int status = 0;
    waitpid(child, &status, 0);
    SHOW(WEXITSTATUS(status));
    return NULL;
}

static void forks(void) {
    in_thread(fork_here, NULL);
    fork_here(NULL);
}

static void* describe(void* argument) {
    char name[16] = "";
    SHOW(pthread_setname_np(pthread_self(), "a name that is too long") == ERANGE);
    SHOW(pthread_setname_np(pthread_self(), "worker"));
    SHOW(pthread_getname_np(pthread_self(), name, sizeof name));
    puts(name);
    pthread_attr_t how;
    void* stack = NULL;
    size_t size = 0;
    SHOW(pthread_getattr_np(pthread_self(), &how));
    pthread_attr_getstack(&how, &stack, &size);
    SHOW((char*)&how > (char*)stack && (char*)&how < (char*)stack + size);
    int policy = -1;
    struct sched_param parameters = {-1};
    SHOW(pthread_getschedparam(pthread_self(), &policy, &parameters));
    printf("%d %d\n", policy, parameters.sched_priority);
    return argument;
}

static void descriptions(void) { in_thread(describe, NULL); }

static void* use_stack(void* argument) {
    volatile char much[3 << 20];
    for (size_t k = 0; k < sizeof much; k += 4096) much[k] = 1;
    return much[0] == 1 ? argument : NULL;
}

static void stacks(void) { SHOW((intptr_t)in_thread(use_stack, (void*)3)); }

static void* spin(void* flag) {
    while (__atomic_load_n((int*)flag, __ATOMIC_ACQUIRE) == 0) {}
    return NULL;
}

// More threads that compute than any machine of tests has processors, and one that ends them.
static void* set_flag(void* flag) {
    __atomic_store_n((int*)flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void busy(void) {
    static int flag;
    pthread_t t[5];
    for (int k = 0; k < 4; ++k) pthread_create(&t[k], NULL, spin, &flag);
    usleep(30000);
    pthread_create(&t[4], NULL, set_flag, &flag);
    for (int k = 0; k < 5; ++k) pthread_join(t[k], NULL);
    puts("over");
}

static void many(void) {
    enum { k_threads = 5000 };
    static pthread_t t[k_threads];
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 65536);
    int made = 0;
    while (made < k_threads && pthread_create(&t[made], &how, wait_for_count, NULL) == 0) ++made;
    set_count();
    for (int k = 0; k < made; ++k) pthread_join(t[k], NULL);
    SHOW(made);
}

// What only a thread of the kernel has.
static void own_resources(void) {
    enum { k_stack = 1 << 18 };
    void* const memory = aligned_alloc(4096, k_stack);
    pthread_attr_t with_stack, with_guard, on_first;
    pthread_attr_init(&with_stack);
    pthread_attr_setstack(&with_stack, memory, k_stack);
    pthread_attr_init(&with_guard);
    pthread_attr_setguardsize(&with_guard, k_stack);
    pthread_attr_init(&on_first);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    pthread_attr_setaffinity_np(&on_first, sizeof allowed, &allowed);
    pthread_t t[4];
    int flag[4] = {0};
    pthread_create(&t[0], &with_stack, set_flag, &flag[0]);
    pthread_create(&t[1], &on_first, set_flag, &flag[1]);
    pthread_create(&t[2], &on_first, set_flag, &flag[2]);
    pthread_create(&t[3], &with_guard, set_flag, &flag[3]);
    for (int k = 0; k < 4; ++k) pthread_join(t[k], NULL);
    SHOW(flag[0] + flag[1] + flag[2] + flag[3]);
    free(memory);
}

// For a test that looks at the process from outside.
static void hold(void) {
    enum { k_threads = 5000 };
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 65536);
    for (int k = 0; k < k_threads; ++k) {
        pthread_t t;
        if (pthread_create(&t, &how, wait_for_count, NULL) != 0) abort();
    }
    puts("waiting");
    for (;;) pause();
}

static struct {
    char const* name;
    void (*run)(void);
} const s_cases[] = {
    {"variables", variables},
    {"joins", joins},
    {"detached", detached},
    {"exits", exits},
    {"main_exits", main_exits},
    {"cancels", cancels},
    {"states", states},
    {"pending_in_main", pending_in_main},
    {"points_of_main", points_of_main},
    {"waits_of_main", waits_of_main},
    {"waits_on_own_stacks", waits_on_own_stacks},
    {"shielded_on_own_stacks", shielded_on_own_stacks},
    {"interrupted_on_own_stacks", interrupted_on_own_stacks},
    {"points_of_threads", points_of_threads},
    {"crowds_in_kernel", crowds_in_kernel},
    {"handlers_in_kernel", handlers_in_kernel},
    {"waits_without_os_threads", waits_without_os_threads},
    {"early_waits", early_waits},
    {"keys", keys},
    {"mutexes", mutexes},
    {"mutexes_of_others", mutexes_of_others},
    {"exclusion", exclusion},
    {"conditions", conditions},
    {"times", times},
    {"rwlocks", rwlocks},
    {"rwlock_in_turns", rwlock_in_turns},
    {"locks_that_go", locks_that_go},
    {"barriers", barriers},
    {"once", once},
    {"semaphores", semaphores},
    {"streams", streams},
    {"polls", polls},
    {"asked_in_turn", asked_in_turn},
    {"asked_by_many", asked_by_many},
    {"polls_of_one", polls_of_one},
    {"closed_of_several", closed_of_several},
    {"closed_by_number", closed_by_number},
    {"numbers_of_sockets", numbers_of_sockets},
    {"modes_of_sockets", modes_of_sockets},
    {"asked_at_once", asked_at_once},
    {"waits_for_several", waits_for_several},
    {"waits_of_different_kinds", waits_of_different_kinds},
    {"select_that_is_interrupted", select_that_is_interrupted},
    {"waits_that_the_kernel_takes_over", waits_that_the_kernel_takes_over},
    {"numbers_of_files", numbers_of_files},
    {"allocator_and_os_threads", allocator_and_os_threads},
    {"allocator_and_idleness", allocator_and_idleness},
    {"allocator_and_forks", allocator_and_forks},
    {"allocator_and_names", allocator_and_names},
    {"allocator_and_helpers", allocator_and_helpers},
    {"allocator_and_variables", allocator_and_variables},
    {"allocator_and_first_values", allocator_and_first_values},
    {"edges_of_descriptors", edges_of_descriptors},
    {"edges_of_signals", edges_of_signals},
    {"forks_with_locks", forks_with_locks},
    {"last_of_all", last_of_all},
    {"posts_of_handlers", posts_of_handlers},
    {"identities", identities},
    {"changed_words", changed_words},
    {"newer_calls_on_words", newer_calls_on_words},
    {"interruptions", interruptions},
    {"signals_at_locks", signals_at_locks},
    {"masks", masks},
    {"awaited", awaited},
    {"for_one_thread", for_one_thread},
    {"at_computing", at_computing},
    {"standard_action", standard_action},
    {"signals_of_children", signals_of_children},
    {"left_to_process", left_to_process},
    {"kept_out_of_waits", kept_out_of_waits},
    {"signals_after_main", signals_after_main},
    {"interrupted_one_by_one", interrupted_one_by_one},
    {"kept_out_of_computing", kept_out_of_computing},
    {"handlers_at_locks", handlers_at_locks},
    {"handlers_at_once", handlers_at_once},
    {"ends_at_locks", ends_at_locks},
    {"cancelled_at_mutex", cancelled_at_mutex},
    {"cancelled_computing", cancelled_computing},
    {"called_at_yields", called_at_yields},
    {"called_at_tries", called_at_tries},
    {"cancelled_shielded", cancelled_shielded},
    {"blocked_aborts", blocked_aborts},
    {"aborts_for_one_thread", aborts_for_one_thread},
    {"last_signals", last_signals},
    {"kills_of_callers", kills_of_callers},
    {"kills_that_are_blocked", kills_that_are_blocked},
    {"kills_at_ends", kills_at_ends},
    {"kills_by_destructors", kills_by_destructors},
    {"kills_without_main", kills_without_main},
    {"kills_by_handlers", kills_by_handlers},
    {"jumps_out_of_kills", jumps_out_of_kills},
    {"kills_by_profilers", kills_by_profilers},
    {"kills_in_handlers_of_children", kills_in_handlers_of_children},
    {"posts_from_anywhere", posts_from_anywhere},
    {"actions_of_kernels_signals", actions_of_kernels_signals},
    {"jumps_of_kernels_signals", jumps_of_kernels_signals},
    {"raises_from_anywhere", raises_from_anywhere},
    {"posts_after_jumps_within", posts_after_jumps_within},
    {"jumps_within_and_out", jumps_within_and_out},
    {"ends_of_children_in_handlers", ends_of_children_in_handlers},
    {"wakes_of_some_by_handlers", wakes_of_some_by_handlers},
    {"kills_beside_handlers_of_main", kills_beside_handlers_of_main},
    {"waits_for_both_of_own", waits_for_both_of_own},
    {"kills_at_other_masks", kills_at_other_masks},
    {"kills_in_handlers_of_own", kills_in_handlers_of_own},
    {"kills_at_waits_of_main", kills_at_waits_of_main},
    {"kills_of_two_at_once", kills_of_two_at_once},
    {"kernels_signals_by_handlers", kernels_signals_by_handlers},
    {"cancelled_ahead_of_waits", cancelled_ahead_of_waits},
    {"asked_with_other_masks", asked_with_other_masks},
    {"handled_at_ends_of_commands", handled_at_ends_of_commands},
    {"kills_of_who_is_ended", kills_of_who_is_ended},
    {"kills_by_os_threads", kills_by_os_threads},
    {"ends_in_calls_of_signals", ends_in_calls_of_signals},
    {"exits_of_children", exits_of_children},
    {"gone_threads", gone_threads},
    {"refused_joins", refused_joins},
    {"cancelled_main", cancelled_main},
    {"exits_of_main", exits_of_main},
    {"ends_of_os_threads", ends_of_os_threads},
    {"signals_and_failures", signals_and_failures},
    {"exits_in_destructors", exits_in_destructors},
    {"exits_by_system_call", exits_by_system_call},
    {"described_early", described_early},
    {"default_attributes", default_attributes},
    {"forks_beside_own_stacks", forks_beside_own_stacks},
    {"memory_in_children", memory_in_children},
    {"large_guards", large_guards},
    {"whole_stacks", whole_stacks},
    {"large_stacks", large_stacks},
    {"floating_point", floating_point},
    {"joins_of_os_threads", joins_of_os_threads},
    {"inherited_scheduling", inherited_scheduling},
    {"crowds_at_shared_mutexes", crowds_at_shared_mutexes},
    {"lent", lent},
    {"interrupted_main", interrupted_main},
    {"masked_polls", masked_polls},
    {"mask_at_start", mask_at_start},
    {"faults", faults},
    {"awaited_without_handlers", awaited_without_handlers},
    {"jumps_of_handlers", jumps_of_handlers},
    {"stacks_of_handlers", stacks_of_handlers},
    {"uncaught", uncaught},
    {"unwound", unwound},
    {"objects_of_threads", objects_of_threads},
    {"objects_of_destructors", objects_of_destructors},
    {"forks", forks},
    {"masks_of_programs", masks_of_programs},
    {"vforks", vforks},
    {"forks_among_others", forks_among_others},
    {"forks_at_begin", forks_at_begin},
    {"once_over_fork", once_over_fork},
    {"waits_for_children", waits_for_children},
    {"cancelled_waits", cancelled_waits},
    {"handlers_at_waits_for_children", handlers_at_waits_for_children},
    {"joins_in_children", joins_in_children},
    {"commands_at_once", commands_at_once},
    {"shared_mutexes", shared_mutexes},
    {"robust_mutexes", robust_mutexes},
    {"shared_conditions", shared_conditions},
    {"signals_to_the_cancelled", signals_to_the_cancelled},
    {"ceilings", ceilings},
    {"shared_semaphores", shared_semaphores},
    {"named_semaphores", named_semaphores},
    {"shared_barriers", shared_barriers},
    {"shared_rwlocks", shared_rwlocks},
    {"robust_waits", robust_waits},
    {"inheriting_mutexes", inheriting_mutexes},
    {"blocking_calls", blocking_calls},
    {"errno_after_waits", errno_after_waits},
    {"file_locks", file_locks},
    {"queues", queues},
    {"transfers", transfers},
    {"rules_of_attributes", rules_of_attributes},
    {"rules_of_threads", rules_of_threads},
    {"rules_of_ended_threads", rules_of_ended_threads},
    {"names_of_threads", names_of_threads},
    {"names_by_prctl", names_by_prctl},
    {"processors_of_threads", processors_of_threads},
    {"rules_of_keys", rules_of_keys},
    {"rules_of_locks", rules_of_locks},
    {"rules_of_fork", rules_of_fork},
    {"times_of_threads", times_of_threads},
    {"rules_of_signals", rules_of_signals},
    {"values_of_signals", values_of_signals},
    {"senders_of_signals", senders_of_signals},
    {"queue_of_signals_is_full", queue_of_signals_is_full},
    {"c11_threads", c11_threads},
    {"older_functions", older_functions},
    {"deferred_cleanups", deferred_cleanups},
    {"variables_used_again", variables_used_again},
    {"variables_of_many", variables_of_many},
    {"aligned_variables", aligned_variables},
    {"parts_of_threads", parts_of_threads},
#ifndef CASES_ARE_STATIC
    {"second_names", second_names},
    {"late_variables", late_variables},
    {"late_variables_of_few_bytes", late_variables_of_few_bytes},
    {"late_variables_of_living", late_variables_of_living},
    {"late_variables_apart", late_variables_apart},
    {"errors_of_libraries", errors_of_libraries},
#endif
    {"shut_down_under_reads", shut_down_under_reads},
    {"pipes_without_writers", pipes_without_writers},
    {"connections_made_again", connections_made_again},
    {"broken_connections", broken_connections},
    {"signals_of_broken_pipes", signals_of_broken_pipes},
    {"flags_of_output", flags_of_output},
    {"least_to_receive", least_to_receive},
    {"whole_messages", whole_messages},
    {"crowds_at_streams", crowds_at_streams},
    {"limits_of_parts", limits_of_parts},
    {"transfers_to_nobody", transfers_to_nobody},
    {"spliced_at_once", spliced_at_once},
    {"spliced_beside_writer", spliced_beside_writer},
    {"late_transfers", late_transfers},
    {"packets_to_nobody", packets_to_nobody},
    {"transfers_in_vain", transfers_in_vain},
    {"parts_that_are_nowhere", parts_that_are_nowhere},
    {"parts_of_numbers", parts_of_numbers},
    {"early_transfers", early_transfers},
    {"limits_of_whole_messages", limits_of_whole_messages},
    {"transfers_of_both_modes", transfers_of_both_modes},
    {"other_ends_of_terminals", other_ends_of_terminals},
    {"terminals_of_others", terminals_of_others},
    {"asked_beside_signals", asked_beside_signals},
    {"hosts", hosts},
    {"memory_of_threads", memory_of_threads},
    {"floats_of_threads", floats_of_threads},
    {"descriptions", descriptions},
    {"scheduling_of_one_thread", scheduling_of_one_thread},
    {"attributes_of_scheduling", attributes_of_scheduling},
    {"system_calls_for_one_thread", system_calls_for_one_thread},
    {"scheduling_of_the_made", scheduling_of_the_made},
    {"scheduling_among_other_users", scheduling_among_other_users},
    {"calls_refused_later", calls_refused_later},
    {"stacks", stacks},
    {"busy", busy},
    {"many", many},
    {"own_resources", own_resources},
};

int main(int count, char** words) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t k = 0; k != sizeof s_cases / sizeof *s_cases; ++k) {
        if (count < 2)
            puts(s_cases[k].name);
        else if (strcmp(words[1], s_cases[k].name) == 0)
            s_cases[k].run();
    }
    if (count > 1 && strcmp(words[1], "hold") == 0) hold();
    if (count > 1 && strcmp(words[1], "hold_c11") == 0) hold_c11();
    if (count > 1 && strcmp(words[1], "parts_of_the_cancelled") == 0) parts_of_the_cancelled();
    if (count > 1 && strcmp(words[1], "hold_named") == 0) hold_named();
    if (count > 1 && strcmp(words[1], "overflow") == 0) overflow_a_stack();
    if (count > 1 && strcmp(words[1], "ceiling_locks") == 0) ceiling_locks();
    if (count > 2 && strcmp(words[1], "set_mode") == 0) set_mode(atoi(words[2]));
    if (count > 1 && strcmp(words[1], "starts_after_unwanted") == 0) starts_after_unwanted();
    if (count > 1 && strcmp(words[1], "syncs_beside_sleepers") == 0) syncs_beside_sleepers();
    if (count > 1 && strcmp(words[1], "numbers_of_the_run_time") == 0) numbers_of_the_run_time();
    return 0;
}
