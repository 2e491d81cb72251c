// SPDX-License-Identifier: Apache-2.0
// Cases of what POSIX has the functions of <pthread.h> return, above all errors: in a thread, and
// in main.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec const s_never = {0, 1000000000}, s_negative = {1, -1}, s_past = {1, 0};

// --- attributes ----------------------------------------------------------------------------------

static void* has_attributes(void* argument) {
    pthread_attr_t how;
    int number = -1;
    size_t size = 0;
    struct sched_param priority = {.sched_priority = -1};
    SHOW(pthread_attr_init(&how));
    SHOW(pthread_attr_getdetachstate(&how, &number));
    SHOW(number == PTHREAD_CREATE_JOINABLE);
    SHOW(pthread_attr_setdetachstate(&how, 12) == EINVAL);
    SHOW(pthread_attr_setguardsize(&how, 8192));
    SHOW(pthread_attr_getguardsize(&how, &size));
    SHOW(size);
    SHOW(pthread_attr_setstacksize(&how, (size_t)PTHREAD_STACK_MIN - 1) == EINVAL);
    SHOW(pthread_attr_setstacksize(&how, 1 << 18));
    SHOW(pthread_attr_getstacksize(&how, &size));
    SHOW(size);
    SHOW(pthread_attr_setstack(&how, &how, 16) == EINVAL);
    SHOW(pthread_attr_getscope(&how, &number));
    SHOW(number == PTHREAD_SCOPE_SYSTEM);
    SHOW(pthread_attr_setscope(&how, PTHREAD_SCOPE_PROCESS) == ENOTSUP);
    SHOW(pthread_attr_setscope(&how, 12) == EINVAL);
    SHOW(pthread_attr_getinheritsched(&how, &number));
    SHOW(number == PTHREAD_INHERIT_SCHED);
    SHOW(pthread_attr_setinheritsched(&how, 12) == EINVAL);
    SHOW(pthread_attr_setschedpolicy(&how, 77) == EINVAL);
    SHOW(pthread_attr_getschedpolicy(&how, &number));
    SHOW(number == SCHED_OTHER);
    SHOW(pthread_attr_getschedparam(&how, &priority));
    SHOW(priority.sched_priority);
    SHOW(pthread_attr_setschedparam(&how, &priority));
    SHOW(pthread_attr_destroy(&how));
    return argument;
}

static void* has_attributes_of_locks(void* argument) {
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_rwlockattr_t l;
    pthread_barrierattr_t b;
    int number = -1;
    clockid_t clock = -1;
    SHOW(pthread_mutexattr_init(&m));
    SHOW(pthread_mutexattr_gettype(&m, &number));
    SHOW(number == PTHREAD_MUTEX_DEFAULT);
    SHOW(pthread_mutexattr_settype(&m, 77) == EINVAL);
    SHOW(pthread_mutexattr_getrobust(&m, &number));
    SHOW(number == PTHREAD_MUTEX_STALLED);
    SHOW(pthread_mutexattr_setrobust(&m, 77) == EINVAL);
    SHOW(pthread_mutexattr_getpshared(&m, &number));
    SHOW(number == PTHREAD_PROCESS_PRIVATE);
    SHOW(pthread_mutexattr_setpshared(&m, 77) == EINVAL);
    SHOW(pthread_mutexattr_setprioceiling(&m, 1000) == EINVAL);
    SHOW(pthread_mutexattr_setprioceiling(&m, 17));
    SHOW(pthread_mutexattr_getprioceiling(&m, &number));
    SHOW(number);
    SHOW(pthread_mutexattr_destroy(&m));
    SHOW(pthread_condattr_init(&c));
    SHOW(pthread_condattr_getclock(&c, &clock));
    SHOW(clock == CLOCK_REALTIME);
    SHOW(pthread_condattr_setclock(&c, CLOCK_PROCESS_CPUTIME_ID) == EINVAL);
    SHOW(pthread_condattr_getpshared(&c, &number));
    SHOW(number == PTHREAD_PROCESS_PRIVATE);
    SHOW(pthread_condattr_setpshared(&c, 77) == EINVAL);
    SHOW(pthread_condattr_destroy(&c));
    SHOW(pthread_rwlockattr_init(&l));
    SHOW(pthread_rwlockattr_getpshared(&l, &number));
    SHOW(number == PTHREAD_PROCESS_PRIVATE);
    SHOW(pthread_rwlockattr_setpshared(&l, 77) == EINVAL);
    SHOW(pthread_rwlockattr_destroy(&l));
    SHOW(pthread_barrierattr_init(&b));
    SHOW(pthread_barrierattr_getpshared(&b, &number));
    SHOW(number == PTHREAD_PROCESS_PRIVATE);
    SHOW(pthread_barrierattr_destroy(&b));
    return argument;
}

void rules_of_attributes(void) {
    in_both(has_attributes);
    in_both(has_attributes_of_locks);
}

// --- threads -------------------------------------------------------------------------------------

static atomic_int s_ready, s_may_end, s_destroyed;

static void* waits(void* argument) {
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_may_end) == 0) usleep(1000);
    return argument;
}

static void* has_rules_of_threads(void* argument) {
    pthread_t t;
    int number = -1;
    void* result = NULL;
    clockid_t clock = 0;
    struct timespec time = {-1, -1}, soon = in_ms_of(CLOCK_REALTIME, 20);
    struct sched_param priority = {.sched_priority = -1};
    atomic_store(&s_may_end, 0);
    pthread_create(&t, NULL, waits, argument);
    SHOW(pthread_equal(t, pthread_self()));
    SHOW(pthread_equal(t, t) != 0);
    SHOW(pthread_timedjoin_np(t, &result, &soon) == ETIMEDOUT);
    SHOW(pthread_timedjoin_np(t, &result, &s_past) == ETIMEDOUT);
    SHOW(pthread_clockjoin_np(t, &result, CLOCK_PROCESS_CPUTIME_ID, &soon) == EINVAL);
    SHOW(pthread_getschedparam(t, &number, &priority));
    SHOW(number == SCHED_OTHER && priority.sched_priority == 0);
    SHOW(pthread_setschedparam(t, 77, &priority) == EINVAL);
    priority.sched_priority = 1000;
    SHOW(pthread_setschedparam(t, SCHED_FIFO, &priority) == EINVAL);
    SHOW(pthread_setschedparam(t, SCHED_OTHER, &priority) == EINVAL);
    SHOW(pthread_setschedprio(t, 1000) == EINVAL);
    SHOW(pthread_setschedprio(t, 0));
    SHOW(pthread_getcpuclockid(t, &clock));
    SHOW(clock_gettime(clock, &time) == 0 && time.tv_sec >= 0);
    atomic_store(&s_may_end, 1);
    SHOW(pthread_join(t, &result));
    SHOW(result == argument);
    number = -1;
    SHOW(pthread_setcancelstate(77, &number) == EINVAL);
    SHOW(pthread_setcanceltype(77, &number) == EINVAL);
    SHOW(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &number));
    SHOW(number == PTHREAD_CANCEL_ENABLE);
    SHOW(pthread_setcancelstate(number, NULL));
    SHOW(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &number));
    SHOW(number == PTHREAD_CANCEL_DEFERRED);
    SHOW(pthread_setconcurrency(-1) == EINVAL);
    SHOW(pthread_setconcurrency(3));
    SHOW(pthread_getconcurrency());
    SHOW(pthread_setconcurrency(0));
    return argument;
}

void rules_of_threads(void) { in_both(has_rules_of_threads); }

// Until it has ended, as its scheduling tells.
static void wait_for_end_of(pthread_t t) {
    int policy = 0;
    struct sched_param how;
    for (int k = 0; k != 1000 && pthread_getschedparam(t, &policy, &how) == 0; ++k) usleep(10000);
}

static void* has_rules_of_ended_threads(void* argument) {
    pthread_t t;
    int policy = 0;
    char name[16] = "";
    clockid_t clock = 0;
    void* result = NULL;
    struct sched_param how = {0};
    atomic_store(&s_may_end, 1);
    pthread_create(&t, NULL, waits, &how);
    wait_for_end_of(t);
    SHOW(pthread_setname_np(t, "late") == ENOENT);
    SHOW(pthread_getname_np(t, name, sizeof name) == ENOENT);
    SHOW(pthread_getschedparam(t, &policy, &how) == ESRCH);
    SHOW(pthread_setschedparam(t, SCHED_OTHER, &how) == ESRCH);
    SHOW(pthread_setschedprio(t, 0) == ESRCH);
    SHOW(pthread_getcpuclockid(t, &clock) == ESRCH);
    SHOW(pthread_cancel(t));
    SHOW(pthread_join(t, &result));
    SHOW(result == &how);
    pthread_create(&t, NULL, waits, argument);
    wait_for_end_of(t);
    SHOW(pthread_timedjoin_np(t, &result, &s_never)); // it need not wait
    SHOW(result == argument);
    return argument;
}

void rules_of_ended_threads(void) { in_both(has_rules_of_ended_threads); }

static char s_expected[16];

static void* shows_name(void* argument) {
    char name[16] = "";
    cpu_set_t set, of_process;
    pthread_attr_t how;
    SHOW(pthread_getname_np(pthread_self(), name, sizeof name));
    SHOW(strcmp(name, s_expected) == 0);
    CPU_ZERO(&set);
    SHOW(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == EINVAL);
    SHOW(sched_getaffinity(getpid(), sizeof of_process, &of_process));
    SHOW(pthread_setaffinity_np(pthread_self(), sizeof set, &of_process));
    SHOW(pthread_getattr_np(pthread_self(), &how));
    SHOW(pthread_attr_getaffinity_np(&how, sizeof set, &set));
    SHOW(CPU_EQUAL(&set, &of_process));
    SHOW(pthread_attr_destroy(&how));
    if (argument == NULL) return NULL;
    SHOW(pthread_setname_np(pthread_self(), strcpy(s_expected, "child")));
    in_thread(shows_name, NULL);
    return NULL;
}

// A thread has the name that its creator has then.
void names_of_threads(void) {
    SHOW(pthread_getname_np(pthread_self(), s_expected, sizeof s_expected));
    in_thread(shows_name, "");
    SHOW(pthread_setname_np(pthread_self(), strcpy(s_expected, "parent")));
    in_thread(shows_name, "");
    SHOW(pthread_setname_np(pthread_self(), strcpy(s_expected, "parent again")));
    in_thread(shows_name, "");
}

static void* shows_name_by_prctl(void* argument) {
    char name[16] = "";
    SHOW(prctl(PR_GET_NAME, name));
    SHOW(strcmp(name, s_expected) == 0);
    SHOW(pthread_getname_np(pthread_self(), name, sizeof name));
    SHOW(strcmp(name, s_expected) == 0);
    if (argument == NULL) return NULL;
    SHOW(prctl(PR_SET_NAME, argument));
    strncpy(s_expected, argument, sizeof s_expected - 1);
    in_thread(shows_name_by_prctl, NULL);
    SHOW(pthread_setname_np(pthread_self(), strcpy(s_expected, "by pthread")));
    in_thread(shows_name_by_prctl, NULL);
    SHOW(prctl(PR_SET_NAME, NULL) == -1 && errno == EFAULT);
    return NULL;
}

// A process that a thread has made has the name that it gives itself.
static void* names_its_child(void* argument) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        char name[17] = "";
        prctl(PR_SET_NAME, "child");
        FILE* const told = fopen("/proc/self/comm", "r");
        _exit(told != NULL && fgets(name, sizeof name, told) != NULL &&
              strcmp(name, "child\n") == 0);
    }
    SHOW(end_of(child));
    return argument;
}

// It cuts a name off that is too long, and names its caller, whom nobody else is named by.
void names_by_prctl(void) {
    in_thread(names_its_child, NULL);
    SHOW(prctl(PR_SET_NAME, strcpy(s_expected, "main")));
    in_thread(shows_name_by_prctl, "a thread whose name is too long");
    strcpy(s_expected, "main");
    shows_name_by_prctl(NULL);
    SHOW(prctl(PR_GET_DUMPABLE));
}

// --- processors ----------------------------------------------------------------------------------

static int count_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

static int keep_to_one_processor(void) {
    cpu_set_t set;
    size_t first = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0) abort();
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

// Of itself, and of a child, which is alone.
static void* keeps_to_one_processor(void* argument) {
    cpu_set_t none;
    CPU_ZERO(&none);
    SHOW(sched_setaffinity(0, sizeof none, &none) == -1 && errno == EINVAL);
    SHOW(keep_to_one_processor());
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) _exit(keep_to_one_processor() == 0 ? count_processors() : 100);
    SHOW(end_of(child));
    return argument;
}
static void* has_all_processors(void* count) {
    SHOW(count_processors() == *(int*)count);
    return count;
}

// Those of one thread are not those of the others.
void processors_of_threads(void) {
    int count = count_processors();
    for (int k = 0; k != 4; ++k) in_thread(keeps_to_one_processor, NULL);
    for (int k = 0; k != 4; ++k) in_thread(has_all_processors, &count);
    has_all_processors(&count);
}

// --- keys ----------------------------------------------------------------------------------------

static pthread_key_t s_key, s_other;
static void sets_again(void* value) {
    atomic_fetch_add(&s_destroyed, 1);
    pthread_setspecific(s_key, value);
}
static void counts_once(void* value) {
    if (value != NULL && pthread_getspecific(s_other) == NULL) atomic_fetch_add(&s_destroyed, 100);
}

static void* has_values(void* argument) {
    SHOW(pthread_getspecific(s_key) == NULL);
    SHOW(pthread_setspecific(s_key, &s_key));
    SHOW(pthread_setspecific(s_other, &s_key));
    return argument;
}

static void* makes_all_keys(void* argument) {
    pthread_key_t all[PTHREAD_KEYS_MAX + 1];
    int made = 0, error = 0;
    while (made <= PTHREAD_KEYS_MAX && (error = pthread_key_create(&all[made], NULL)) == 0) ++made;
    SHOW(error == EAGAIN);
    SHOW(made > 900);
    SHOW(pthread_setspecific(all[made - 1], argument));
    for (int k = 0; k != made; ++k) error += pthread_key_delete(all[k]);
    SHOW(error == EAGAIN);
    SHOW(pthread_key_delete(all[0]) == EINVAL);
    SHOW(pthread_setspecific(all[0], &all) == EINVAL);
    SHOW(pthread_getspecific(all[0]) == NULL);
    SHOW(pthread_key_delete(PTHREAD_KEYS_MAX) == EINVAL);
    return argument;
}

void rules_of_keys(void) {
    SHOW(pthread_key_create(&s_key, sets_again));
    SHOW(pthread_key_create(&s_other, counts_once));
    in_thread(has_values, NULL);
    SHOW(atomic_load(&s_destroyed)); // PTHREAD_DESTRUCTOR_ITERATIONS of one
    SHOW(pthread_key_delete(s_key));
    SHOW(pthread_key_delete(s_other));
    in_both(makes_all_keys);
}

// --- locks ---------------------------------------------------------------------------------------

static void* is_not_owner(void* m) {
    SHOW(pthread_mutex_unlock(m) == EPERM);
    SHOW(pthread_mutex_trylock(m) == EBUSY);
    SHOW(pthread_mutex_timedlock(m, &s_past) == ETIMEDOUT);
    SHOW(pthread_mutex_timedlock(m, &s_never) == EINVAL);
    SHOW(pthread_mutex_timedlock(m, &s_negative) == EINVAL);
    return m;
}

static void* has_mutexes(void* argument) {
    int const kinds[] = {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_mutexattr_t how;
    pthread_mutex_t m;
    pthread_mutexattr_init(&how);
    for (int k = 0; k != 2; ++k) {
        pthread_mutexattr_settype(&how, kinds[k]);
        SHOW(pthread_mutex_init(&m, &how));
        SHOW(pthread_mutex_consistent(&m) == EINVAL);
        SHOW(pthread_mutex_unlock(&m) == EPERM);
        SHOW(pthread_mutex_timedlock(&m, &s_never)); // it need not wait
        in_thread(is_not_owner, &m);
        int const again = kinds[k] == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : 0;
        SHOW(pthread_mutex_lock(&m) == again);
        SHOW(pthread_mutex_timedlock(&m, &soon) == again);
        SHOW(pthread_cond_timedwait(&c, &m, &s_never) == EINVAL);
        SHOW(pthread_cond_timedwait(&c, &m, &s_negative) == EINVAL);
        SHOW(pthread_cond_timedwait(&c, &m, &s_past) == ETIMEDOUT);
        if (again == 0) SHOW(pthread_mutex_unlock(&m) + pthread_mutex_unlock(&m));
        SHOW(pthread_mutex_unlock(&m));
        SHOW(pthread_mutex_unlock(&m) == EPERM);
        SHOW(pthread_mutex_destroy(&m));
    }
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &how);
    SHOW(pthread_cond_wait(&c, &m) == EPERM);
    SHOW(pthread_cond_timedwait(&c, &m, &soon) == EPERM);
    SHOW(pthread_cond_signal(&c));
    SHOW(pthread_cond_destroy(&c));
    return argument;
}

static void* ends_with(void* m) {
    SHOW(pthread_mutex_lock(m));
    return m;
}
static pthread_cond_t s_cond = PTHREAD_COND_INITIALIZER;
static void* takes_it_to_the_end(void* m) {
    while (atomic_load(&s_ready) == 0) usleep(1000);
    pthread_mutex_lock(m);
    pthread_cond_signal(&s_cond);
    return m;
}

// A wait for a condition comes back to a mutex whose owner has ended.
static void* has_robust_conditions(void* argument) {
    struct timespec soon = in_ms_of(CLOCK_REALTIME, 20);
    pthread_mutexattr_t how;
    pthread_mutex_t m;
    pthread_t t;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &how);
    SHOW(pthread_mutex_unlock(&m) == EPERM);
    SHOW(pthread_cond_timedwait(&s_cond, &m, &soon) == EPERM);
    atomic_store(&s_ready, 0);
    pthread_create(&t, NULL, takes_it_to_the_end, &m);
    SHOW(pthread_mutex_lock(&m));
    atomic_store(&s_ready, 1);
    SHOW(pthread_cond_wait(&s_cond, &m) == EOWNERDEAD);
    SHOW(pthread_join(t, NULL));
    SHOW(pthread_mutex_consistent(&m));
    SHOW(pthread_mutex_unlock(&m));
    in_thread(ends_with, &m);
    SHOW(pthread_mutex_lock(&m) == EOWNERDEAD);
    SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_timedlock(&m, &soon) == ENOTRECOVERABLE);
    SHOW(pthread_mutex_destroy(&m));
    return argument;
}

static void* is_kept_out(void* l) {
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    SHOW(pthread_rwlock_tryrdlock(l) == EBUSY);
    SHOW(pthread_rwlock_trywrlock(l) == EBUSY);
    SHOW(pthread_rwlock_timedrdlock(l, &soon) == ETIMEDOUT);
    SHOW(pthread_rwlock_timedwrlock(l, &soon) == ETIMEDOUT);
    SHOW(pthread_rwlock_timedrdlock(l, &s_never) == EINVAL);
    SHOW(pthread_rwlock_timedwrlock(l, &s_negative) == EINVAL);
    return l;
}

static void* tries_spin_lock(void* l) {
    SHOW(pthread_spin_trylock(l) == EBUSY);
    return l;
}

static void* has_other_locks(void* argument) {
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    pthread_rwlock_t l;
    pthread_spinlock_t s;
    pthread_barrier_t b;
    SHOW(pthread_rwlock_init(&l, NULL));
    SHOW(pthread_rwlock_wrlock(&l));
    SHOW(pthread_rwlock_rdlock(&l) == EDEADLK);
    SHOW(pthread_rwlock_wrlock(&l) == EDEADLK);
    SHOW(pthread_rwlock_timedwrlock(&l, &soon) == EDEADLK);
    in_thread(is_kept_out, &l);
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_rdlock(&l));
    SHOW(pthread_rwlock_tryrdlock(&l));
    SHOW(pthread_rwlock_trywrlock(&l) == EBUSY);
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_timedwrlock(&l, &soon) == ETIMEDOUT);
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_destroy(&l));
    SHOW(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE));
    SHOW(pthread_spin_lock(&s));
    in_thread(tries_spin_lock, (void*)&s);
    SHOW(pthread_spin_unlock(&s));
    SHOW(pthread_spin_trylock(&s));
    SHOW(pthread_spin_unlock(&s));
    SHOW(pthread_spin_destroy(&s));
    SHOW(pthread_barrier_init(&b, NULL, 0) == EINVAL);
    SHOW(pthread_barrier_init(&b, NULL, 1));
    SHOW(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
    SHOW(pthread_barrier_destroy(&b));
    return argument;
}

// Some of what is wrong with a time is told though nobody would wait.
static void* has_wrong_times(void* argument) {
    struct timespec const soon = in_ms_of(CLOCK_BOOTTIME, 20);
    for (int shared = 0; shared != 2; ++shared) {
        pthread_mutexattr_t how;
        pthread_mutex_t m;
        sem_t s;
        pthread_mutexattr_init(&how);
        pthread_mutexattr_setpshared(&how,
                                     shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        pthread_mutex_init(&m, &how);
        SHOW(pthread_mutex_clocklock(&m, CLOCK_BOOTTIME, &soon) == EINVAL);
        SHOW(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &s_never));
        sem_init(&s, shared, 1);
        SHOW(sem_timedwait(&s, &s_never) == -1 && errno == EINVAL);
        SHOW(sem_timedwait(&s, &s_negative) == -1 && errno == EINVAL);
        SHOW(sem_clockwait(&s, CLOCK_MONOTONIC, &s_never) == -1 && errno == EINVAL);
        SHOW(sem_clockwait(&s, CLOCK_BOOTTIME, &soon) == -1 && errno == EINVAL);
        SHOW(sem_timedwait(&s, &s_past));
    }
    return argument;
}

void rules_of_locks(void) {
    in_both(has_wrong_times);
    in_both(has_mutexes);
    in_both(has_robust_conditions);
    in_both(has_other_locks);
}

// --- pthread_atfork ------------------------------------------------------------------------------

static int s_order;
static void note(int step) { s_order = s_order * 10 + step; }
static void before_first(void) { note(1); }
static void before_second(void) { note(2); }
static void in_parent_first(void) { note(3); }
static void in_parent_second(void) { note(4); }
static void in_child_first(void) { note(5); }
static void in_child_second(void) { note(6); }

static void* forks(void* argument) {
    s_order = 0;
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) _exit(s_order == 2156 ? 7 : 1);
    int status = 0;
    SHOW(waitpid(child, &status, 0) == child);
    SHOW(WEXITSTATUS(status));
    SHOW(s_order);
    return argument;
}

void rules_of_fork(void) {
    SHOW(pthread_atfork(before_first, in_parent_first, in_child_first));
    SHOW(pthread_atfork(before_second, in_parent_second, in_child_second));
    SHOW(pthread_atfork(NULL, NULL, NULL));
    in_both(forks);
}

// --- the time of a thread -----------------------------------------------------------------------

static int64_t time_of_own(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) abort();
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}
static int64_t usage_of_own(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) abort();
    return usage.ru_utime.tv_sec * INT64_C(1000000) + usage.ru_utime.tv_usec;
}
// Whether both go on while others run, too.
static void* looks_at_time(void* unused) {
    int64_t time = 0, usage = 0;
    int went_back = 0;
    for (int k = 0; k != 300; ++k) {
        int64_t const now = time_of_own(), used = usage_of_own();
        went_back += now < time || used < usage;
        time = now;
        usage = used;
        usleep((unsigned)(k % 7) * 20);
    }
    return (void*)(intptr_t)(unused != NULL || went_back);
}
static void* look_at_time(void* unused) {
    enum { k_threads = 8 };
    pthread_t all[k_threads];
    int went_back = 0;
    for (int k = 0; k != k_threads; ++k) pthread_create(&all[k], NULL, &looks_at_time, NULL);
    for (int k = 0; k != k_threads; ++k) {
        void* did = NULL;
        pthread_join(all[k], &did);
        went_back += did != NULL;
    }
    SHOW(went_back);
    return unused;
}

static void* tells_time(void* times) {
    ((int64_t*)times)[0] = time_of_own();
    ((int64_t*)times)[1] = usage_of_own();
    return NULL;
}
// Main computes, and threads that begin then do not. A thread may have to wait for a processor.
static void look_at_time_of_beginners(void) {
    int64_t const enough = 60 * 1000 * 1000;
    int64_t times[2] = {enough, enough};
    while (time_of_own() < 2 * enough) {}
    for (int k = 0; k != 100 && (times[0] >= enough || times[1] >= enough / 1000); ++k)
        in_thread(&tells_time, times);
    SHOW(times[0] > 0 && times[0] < enough);
    SHOW(times[1] < enough / 1000);
}

void times_of_threads(void) {
    in_thread(&look_at_time, NULL);
    look_at_time_of_beginners();
}

// For a test that looks at the process from outside.
static void* names_itself(void* unused) {
    pthread_setname_np(pthread_self(), "by itself");
    pause();
    return unused;
}
static void* is_named_early(void* unused) {
    while (sleep(1000) == 0) continue;
    return unused;
}
static void* is_named_late(void* unused) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    return unused;
}
// Of threads that wait at the same place reports tell together.
void hold_named(void) {
    pthread_t t[3];
    pthread_create(&t[0], NULL, names_itself, NULL);
    pthread_create(&t[1], NULL, is_named_early, NULL);
    pthread_setname_np(t[1], "early, perhaps");
    pthread_create(&t[2], NULL, is_named_late, NULL);
    usleep(20000);
    pthread_setname_np(t[2], "a\nb");
    puts("waiting");
    for (;;) pause();
}
