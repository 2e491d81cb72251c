// SPDX-License-Identifier: Apache-2.0
// Cancellations of main, and of other threads that stay the C library's.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

// --- waits of main, and of threads with stacks of their own --------------------------------------

static pthread_mutex_t s_checking;
static pthread_cond_t s_shared_cond;
static pthread_t s_waiter, s_endless;
static int s_cleanups;

static void* wait_for_ever(void* unused) {
    for (;;) pause();
    return unused;
}

static void note_cleanup(void* unused) {
    (void)unused;
    ++s_cleanups;
}
static void note_unlock(void* unused) {
    (void)unused;
    if (pthread_mutex_unlock(&s_checking) == 0) ++s_cleanups;
}

static void wait_for(pthread_cond_t* cond, struct timespec const* until) {
    pthread_mutex_lock(&s_checking);
    pthread_cleanup_push(note_unlock, NULL);
    for (;;) {
        if (until == NULL)
            pthread_cond_wait(cond, &s_checking);
        else
            pthread_cond_timedwait(cond, &s_checking, until);
    }
    pthread_cleanup_pop(0);
}

static void in_cond(void) { wait_for(&s_cond, NULL); }
static void in_timed_cond(void) {
    struct timespec const late = in_ms_of(CLOCK_REALTIME, 100000);
    wait_for(&s_cond, &late);
}
static void in_shared_cond(void) { wait_for(&s_shared_cond, NULL); }
static void in_semaphore(void) {
    pthread_cleanup_push(note_cleanup, NULL);
    while (sem_wait(&s_semaphore) != 0) {}
    pthread_cleanup_pop(0);
}
static void in_timed_semaphore(void) {
    struct timespec const late = in_ms_of(CLOCK_REALTIME, 100000);
    pthread_cleanup_push(note_cleanup, NULL);
    sem_timedwait(&s_semaphore, &late);
    pthread_cleanup_pop(0);
}
static void in_join(void) {
    pthread_cleanup_push(note_cleanup, NULL);
    pthread_join(s_endless, NULL);
    pthread_cleanup_pop(0);
}
static void in_timed_join(void) {
    struct timespec const late = in_ms_of(CLOCK_REALTIME, 100000);
    pthread_cleanup_push(note_cleanup, NULL);
    pthread_timedjoin_np(s_endless, NULL, &late);
    pthread_cleanup_pop(0);
}
static void in_file_lock(void) {
    struct flock all = {.l_type = F_WRLCK};
    FILE* const file = tmpfile();
    int is_locked[2];
    char byte = 0;
    if (pipe(is_locked) != 0) abort();
    if (fork() == 0) {
        fclose(stdout);
        fclose(stderr);
        alarm(30);
        fcntl(fileno(file), F_SETLK, &all);
        if (write(is_locked[1], &byte, 1) != 1) abort();
        for (;;) pause();
    }
    if (read(is_locked[0], &byte, 1) != 1) abort();
    pthread_cleanup_push(note_cleanup, NULL);
    fcntl(fileno(file), F_SETLKW, &all);
    pthread_cleanup_pop(0);
}

static struct wait {
    char const* name;
    void (*begin)(void);
} const s_waits[] = {
    {"cond", in_cond},
    {"timed cond", in_timed_cond},
    {"shared cond", in_shared_cond},
    {"semaphore", in_semaphore},
    {"timed semaphore", in_timed_semaphore},
    {"join", in_join},
    {"timed join", in_timed_join},
    {"file lock", in_file_lock},
};
enum { k_waits = sizeof s_waits / sizeof *s_waits };

static void prepare_waits(void) {
    pthread_mutexattr_t checking;
    pthread_mutexattr_init(&checking);
    pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&s_checking, &checking);
    pthread_condattr_t shared;
    pthread_condattr_init(&shared);
    pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s_shared_cond, &shared);
    sem_init(&s_semaphore, 0, 0);
}

static void make_with_own_stack(pthread_t* t, void* (*start)(void*), void* argument) {
    enum { k_stack = 1 << 20 };
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstack(&how, aligned_alloc(4096, k_stack), k_stack);
    if (pthread_create(t, &how, start, argument) != 0) abort();
}

static void* begin_wait(void* of) {
    ((struct wait const*)of)->begin();
    return of;
}

// 10: its handler has run, with the mutex where there is one; 1: it was cancelled.
static int how_cancelled(pthread_t waiter) {
    usleep(100000);
    void* result = NULL;
    if (pthread_cancel(waiter) != 0 || pthread_join(waiter, &result) != 0) return -1;
    return 10 * s_cleanups + (result == PTHREAD_CANCELED);
}

static void* cancel_main(void* unused) {
    (void)unused;
    _exit(how_cancelled(s_waiter));
}

static void wait_in_main(struct wait const* w) {
    s_waiter = pthread_self();
    pthread_t t;
    pthread_create(&t, NULL, cancel_main, NULL);
    w->begin();
}

void waits_of_main(void) {
    prepare_waits();
    for (int k = 0; k < k_waits; ++k) {
        fflush(stdout);
        pid_t const child = fork();
        if (child == 0) {
            alarm(30);
            pthread_create(&s_endless, NULL, wait_for_ever, NULL);
            wait_in_main(&s_waits[k]);
            _exit(99);
        }
        printf("%s: %d\n", s_waits[k].name, end_of(child));
    }
}

// With threads, or before there are any but those with stacks of their own.
static void wait_with_own_stack(struct wait const* w, int has_threads) {
    pthread_t t;
    if (has_threads) pthread_create(&s_endless, NULL, wait_for_ever, NULL);
    if (!has_threads) make_with_own_stack(&s_endless, wait_for_ever, NULL);
    make_with_own_stack(&t, begin_wait, (void*)w);
    _exit(how_cancelled(t));
}

void waits_on_own_stacks(void) {
    prepare_waits();
    for (int k = 0; k < 2 * k_waits; ++k) {
        struct wait const* const w = &s_waits[k / 2];
        fflush(stdout);
        pid_t const child = fork();
        if (child == 0) {
            alarm(30);
            wait_with_own_stack(w, k % 2);
        }
        printf("%s, %d: %d\n", w->name, k % 2, end_of(child));
    }
}

// A cancellation that a thread does not let in ends no wait, and arrives at the next point.
static void* wait_shielded(void* unused) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    while (sem_wait(&s_semaphore) != 0) {}
    s_done = 1;
    pthread_setcancelstate(before, NULL);
    for (;;) pthread_testcancel();
    return unused;
}

void shielded_on_own_stacks(void) {
    for (int has_threads = 0; has_threads < 2; ++has_threads) {
        s_done = 0;
        sem_init(&s_semaphore, 0, 0);
        if (has_threads) in_thread(do_nothing, NULL);
        pthread_t t;
        make_with_own_stack(&t, wait_shielded, NULL);
        usleep(50000);
        pthread_cancel(t);
        usleep(50000);
        SHOW(s_done);
        sem_post(&s_semaphore);
        void* result = NULL;
        pthread_join(t, &result);
        SHOW(s_done);
        SHOW(result == PTHREAD_CANCELED);
    }
}

// --- handlers end waits of threads of the C library ----------------------------------------------

static volatile int s_handled, s_is_over;
static unsigned s_word;

static void note_signal(int signal) {
    (void)signal;
    s_handled = 1;
}

static void* end_of_wait(long how) {
    int const error = errno;
    s_is_over = 1;
    return (void*)(intptr_t)(how != 0 ? error : 0);
}
static void* wait_for_post(void* unused) {
    (void)unused;
    return end_of_wait(sem_wait(&s_semaphore));
}
static void* wait_at_word(void* unused) {
    (void)unused;
    return end_of_wait(syscall(SYS_futex, &s_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}

// Again and again, as the first one may come before the wait.
static void* signal_waiter(void* unused) {
    for (s_is_over = 0; !s_is_over; usleep(20000)) pthread_kill(s_waiter, SIGUSR1);
    return unused;
}

void interrupted_on_own_stacks(void) {
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&s_semaphore, 0, 0);
    void* (*const waits[])(void*) = {wait_for_post, wait_at_word};
    for (int k = 0; k < 2; ++k) {
        in_thread(do_nothing, NULL);
        void* result = NULL;
        make_with_own_stack(&s_waiter, waits[k], NULL);
        signal_waiter(NULL);
        pthread_join(s_waiter, &result);
        SHOW((intptr_t)result == EINTR);
        pthread_t t;
        s_waiter = pthread_self();
        pthread_create(&t, NULL, signal_waiter, NULL);
        SHOW((intptr_t)waits[k](NULL) == EINTR);
        pthread_join(t, NULL);
    }
    SHOW(s_handled);
}

// --- more threads than may wait in the kernel ----------------------------------------------------

enum { k_crowd = 128 };
static pthread_mutex_t s_robust;
static pthread_rwlock_t* s_shared_rwlock;
static pthread_barrier_t* s_shared_barrier;

static void* hold_robust(void* unused) {
    if (pthread_mutex_lock(&s_robust) != 0) abort();
    usleep(1000);
    pthread_mutex_unlock(&s_robust);
    return unused;
}
static void* read_shared(void* unused) {
    if (pthread_rwlock_rdlock(s_shared_rwlock) != 0) abort();
    usleep(1000);
    pthread_rwlock_unlock(s_shared_rwlock);
    return unused;
}
static void* write_shared(void* unused) {
    if (pthread_rwlock_wrlock(s_shared_rwlock) != 0) abort();
    usleep(1000);
    pthread_rwlock_unlock(s_shared_rwlock);
    return unused;
}
static void* come_to_shared(void* unused) {
    int const how = pthread_barrier_wait(s_shared_barrier);
    return how == PTHREAD_BARRIER_SERIAL_THREAD ? (void*)1 : unused;
}

static long sum_of_crowd(void* (*start)(void*)) {
    pthread_t t[k_crowd];
    long sum = 0;
    for (int k = 0; k < k_crowd; ++k)
        if (pthread_create(&t[k], NULL, start, NULL) != 0) abort();
    for (int k = 0; k < k_crowd; ++k) {
        void* result = NULL;
        if (pthread_join(t[k], &result) == 0) sum += (long)(intptr_t)result;
    }
    return sum;
}

void crowds_in_kernel(void) {
    char* const memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s_robust, &robust);
    SHOW(sum_of_crowd(hold_robust));
    s_shared_rwlock = (pthread_rwlock_t*)memory;
    pthread_rwlockattr_t shared;
    pthread_rwlockattr_init(&shared);
    pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(s_shared_rwlock, &shared);
    SHOW(sum_of_crowd(write_shared));
    pthread_rwlock_wrlock(s_shared_rwlock);
    pthread_t t[k_crowd];
    for (int k = 0; k < k_crowd; ++k) pthread_create(&t[k], NULL, read_shared, NULL);
    SHOW(sum_of_crowd(do_nothing));
    pthread_rwlock_unlock(s_shared_rwlock);
    for (int k = 0; k < k_crowd; ++k) pthread_join(t[k], NULL);
    s_shared_barrier = (pthread_barrier_t*)(memory + 1024);
    pthread_barrierattr_t among;
    pthread_barrierattr_init(&among);
    pthread_barrierattr_setpshared(&among, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(s_shared_barrier, &among, k_crowd);
    SHOW(sum_of_crowd(come_to_shared));
}

// Handlers run in those that wait in the kernel.
static void* lock_checked(void* mutex) {
    int const error = pthread_mutex_lock(mutex);
    if (error == 0) pthread_mutex_unlock(mutex);
    return (void*)(intptr_t)error;
}

void handlers_in_kernel(void) {
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGUSR1, &action, NULL);
    for (int shared = 0; shared < 2; ++shared) {
        pthread_mutex_t mutex;
        pthread_mutexattr_t how;
        pthread_mutexattr_init(&how);
        if (shared)
            pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
        else
            pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&mutex, &how);
        pthread_mutex_lock(&mutex);
        s_handled = 0;
        pthread_t t;
        void* result = NULL;
        pthread_create(&t, NULL, lock_checked, &mutex);
        usleep(50000);
        pthread_kill(t, SIGUSR1);
        for (int k = 0; k < 500 && !s_handled; ++k) usleep(10000);
        SHOW(s_handled);
        pthread_mutex_unlock(&mutex);
        pthread_join(t, &result);
        SHOW((intptr_t)result);
    }
}

// Where no memory is to be had for a stack of an OS thread.
static void leave_no_memory(void) {
    long pages = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) abort();
    fclose(file);
    rlim_t const now = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit const most = {now, now};
    setrlimit(RLIMIT_AS, &most);
}

static void* set_shared_later(void* unused) {
    while (sem_wait(&s_semaphore) != 0) {}
    usleep(20000);
    pthread_mutex_lock(&s_checking);
    s_done = 1;
    pthread_cond_broadcast(&s_shared_cond);
    pthread_mutex_unlock(&s_checking);
    return unused;
}
static void* await_shared(void* unused) {
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 50);
    int how = 0;
    pthread_mutex_lock(&s_checking);
    while (how == 0) how = pthread_cond_timedwait(&s_shared_cond, &s_checking, &soon);
    SHOW(how == ETIMEDOUT);
    sem_post(&s_semaphore);
    how = 0;
    while (how == 0 && !s_done) how = pthread_cond_wait(&s_shared_cond, &s_checking);
    SHOW(how);
    SHOW(pthread_mutex_unlock(&s_checking));
    return unused;
}
static void* await_when_posted(void* begins) {
    while (sem_wait(begins) != 0) {}
    return await_shared(NULL);
}

void waits_without_os_threads(void) {
    prepare_waits();
    sem_t begins;
    sem_init(&begins, 0, 0);
    s_done = 0;
    pthread_t t[3];
    pthread_create(&t[0], NULL, set_shared_later, NULL);
    pthread_create(&t[1], NULL, set_shared_later, NULL);
    pthread_create(&t[2], NULL, await_when_posted, &begins);
    leave_no_memory();
    await_shared(NULL);
    s_done = 0;
    sem_post(&begins);
    for (int k = 0; k < 3; ++k) pthread_join(t[k], NULL);
}

// --- a wait that began before there were threads -------------------------------------------------

static unsigned s_early;
static int s_early_tid;

static void* wait_early(void* unused) {
    __atomic_store_n(&s_early_tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&s_early, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, &s_early, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

// Whether the OS thread waits in the kernel.
static int sleeps(int tid) {
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE* const file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    fclose(file);
    return state == 'S';
}

void early_waits(void) {
    pthread_t t;
    make_with_own_stack(&t, wait_early, NULL);
    while (!sleeps(__atomic_load_n(&s_early_tid, __ATOMIC_SEQ_CST))) usleep(1000);
    in_thread(do_nothing, NULL);
    __atomic_store_n(&s_early, 1, __ATOMIC_SEQ_CST);
    SHOW(syscall(SYS_futex, &s_early, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    SHOW(pthread_join(t, NULL));
}

// --- calls that would not wait -------------------------------------------------------------------

static int s_file, s_sockets[2], s_queue;
static pthread_t s_on_own_stack;
static char s_byte[8] = "x";
static struct iovec s_part = {s_byte, 1};

static void close_null(void) { close(s_file); }
static void open_null(void) { open("/dev/null", O_RDONLY); }
static void open_new(void) { open("/tmp", O_TMPFILE | O_RDWR, 0600); }
static void open_at(void) { openat(AT_FDCWD, "/dev/null", O_RDONLY); }
static void create(void) { creat("/dev/null", 0600); }
static void write_one(void) { SHOW(write(s_file, s_byte, 1)); }
static void write_none(void) { SHOW(write(s_file, s_byte, 0)); }
static void write_part(void) { SHOW(writev(s_file, &s_part, 1)); }
static void write_to_socket(void) { SHOW(write(s_sockets[0], s_byte, 1)); }
static void read_none(void) { SHOW(read(s_file, s_byte, 0)); }
static void read_no_part(void) { SHOW(readv(s_file, &s_part, 0)); }
static void receive_at_once(void) { recv(s_sockets[1], s_byte, 1, MSG_DONTWAIT); }
static void receive_message(void) {
    struct msghdr message = {.msg_iov = &s_part, .msg_iovlen = 1};
    recvmsg(s_sockets[1], &message, MSG_DONTWAIT);
}
static void receive_messages(void) {
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &s_part, .msg_iovlen = 1}};
    recvmmsg(s_sockets[1], &message, 1, MSG_DONTWAIT, NULL);
}
static void send_at_once(void) { send(s_sockets[0], s_byte, 1, MSG_DONTWAIT); }
static void send_to_at_once(void) { sendto(s_sockets[0], s_byte, 1, MSG_DONTWAIT, NULL, 0); }
static void send_message(void) {
    struct msghdr message = {.msg_iov = &s_part, .msg_iovlen = 1};
    sendmsg(s_sockets[0], &message, MSG_DONTWAIT);
}
static void queue_message(void) {
    struct {
        long kind;
        char text[1];
    } const message = {1, {0}};
    msgsnd(s_queue, &message, 1, IPC_NOWAIT);
}
static void take_message(void) {
    struct {
        long kind;
        char text[8];
    } message;
    msgrcv(s_queue, &message, 8, 0, IPC_NOWAIT);
}
static void take_semaphore(void) { sem_wait(&s_semaphore); }
static void take_semaphore_by(void) {
    struct timespec const past = {1, 0};
    sem_timedwait(&s_semaphore, &past);
}
static void sleep_for_nothing(void) {
    struct timespec const nothing = {0, 0};
    clock_nanosleep(CLOCK_BOOTTIME, 0, &nothing, NULL);
}
static void try_semaphore(void) { sem_trywait(&s_semaphore); }
static void try_join(void) { pthread_tryjoin_np(s_endless, NULL); }
static void sleep_long(void) {
    struct timespec const time = {1000, 0};
    clock_nanosleep(CLOCK_BOOTTIME, 0, &time, NULL);
}
static void sleep_until_late(void) {
    struct timespec const late = in_ms_of(CLOCK_BOOTTIME, 1000000);
    clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &late, NULL);
}
static void join_until_late(void) {
    struct timespec const late = in_ms_of(CLOCK_REALTIME, 1000000);
    pthread_timedjoin_np(s_on_own_stack, NULL, &late);
}

static struct call {
    char const* name;
    void (*make)(void);
} const s_calls[] = {
#define CALL(name)                                                                                 \
    { #name, name }
    CALL(close_null),        CALL(open_null),        CALL(open_new),
    CALL(open_at),           CALL(create),           CALL(write_one),
    CALL(write_none),        CALL(write_part),       CALL(write_to_socket),
    CALL(read_none),         CALL(read_no_part),     CALL(receive_at_once),
    CALL(receive_message),   CALL(receive_messages), CALL(send_at_once),
    CALL(send_to_at_once),   CALL(send_message),     CALL(queue_message),
    CALL(take_message),      CALL(take_semaphore),   CALL(take_semaphore_by),
    CALL(sleep_for_nothing), CALL(try_semaphore),    CALL(try_join),
#undef CALL
};

static void* call_cancelled(void* of) {
    pthread_cancel(pthread_self());
    ((struct call const*)of)->make();
    return NULL;
}

static void prepare_calls(void) {
    s_file = open("/dev/null", O_RDWR);
    s_queue = msgget(IPC_PRIVATE, 0600);
    sem_init(&s_semaphore, 0, 1000);
    if (s_file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s_sockets) != 0) abort();
    pthread_create(&s_endless, NULL, wait_for_ever, NULL);
    make_with_own_stack(&s_on_own_stack, wait_for_ever, NULL);
}

static void* call_later(void* of) {
    ((struct call const*)of)->make();
    return NULL;
}

void points_of_threads(void) {
    prepare_calls();
    for (size_t k = 0; k != sizeof s_calls / sizeof *s_calls; ++k) {
        void* const result = in_thread(call_cancelled, (void*)&s_calls[k]);
        printf("%s: %d\n", s_calls[k].name, result == PTHREAD_CANCELED);
    }
    msgctl(s_queue, IPC_RMID, NULL);
    struct call const long_calls[] = {
        {"sleep", sleep_long}, {"sleep until", sleep_until_late}, {"join", join_until_late}};
    for (int k = 0; k < 3; ++k) {
        pthread_t t;
        void* result = NULL;
        pthread_create(&t, NULL, call_later, (void*)&long_calls[k]);
        usleep(50000);
        pthread_cancel(t);
        pthread_join(t, &result);
        printf("%s: %d\n", long_calls[k].name, result == PTHREAD_CANCELED);
    }
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    SHOW(pthread_timedjoin_np(s_on_own_stack, NULL, &soon) == ETIMEDOUT);
}
