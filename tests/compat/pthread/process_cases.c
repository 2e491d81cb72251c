// SPDX-License-Identifier: Apache-2.0
// Cases of processes: children of fork and vfork, programs that threads start and wait for.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static void block_one(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// --- masks of programs ---------------------------------------------------------------------------

static char* const s_grep[] = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status", NULL};
#define GREP "grep", "-E", "SigBlk|SigIgn", "/proc/self/status", NULL

enum { k_exec_ways = 8 };
static void become_grep(int way) {
    switch (way) {
        case 0: execv("/bin/grep", s_grep); break;
        case 1: execve("/bin/grep", s_grep, environ); break;
        case 2: execvp("grep", s_grep); break;
        case 3: execvpe("grep", s_grep, environ); break;
        case 4: execl("/bin/grep", GREP); break;
        case 5: execlp("grep", GREP); break;
        case 6: execveat(AT_FDCWD, "/bin/grep", s_grep, environ, 0); break;
        default: execle("/bin/grep", GREP, environ); break;
    }
    _exit(99);
}

static pid_t grep_in_fork(int way) {
    pid_t const child = fork();
    if (child == 0) become_grep(way);
    return child;
}
static pid_t grep_in_vfork(int way) {
    pid_t const child = vfork();
    if (child == 0) become_grep(way);
    return child;
}

static void* becomes_grep(void* way) {
    block_one(SIGUSR1);
    become_grep((int)(intptr_t)way);
    return way;
}
static int grep_in_thread_of_fork(int way) {
    pid_t const child = fork();
    if (child == 0) in_thread(becomes_grep, (void*)(intptr_t)way);
    return end_of(child);
}

static void* starts_programs(void* argument) {
    block_one(SIGUSR1);
    pid_t child = 0;
    for (int way = 0; way != k_exec_ways; ++way) {
        SHOW(end_of(grep_in_fork(way)));
        SHOW(end_of(grep_in_vfork(way)));
        SHOW(grep_in_thread_of_fork(way));
    }
    int error = posix_spawn(&child, "/bin/grep", NULL, NULL, s_grep, environ);
    SHOW(end_of(child));
    SHOW(error);
    posix_spawnattr_t how;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &set);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&child, "grep", NULL, &how, s_grep, environ);
    SHOW(end_of(child));
    SHOW(error);
    SHOW(system("grep -E 'SigBlk|SigIgn' /proc/self/status"));
    char line[100] = "";
    FILE* const from = popen("grep SigBlk /proc/self/status", "r");
    if (fgets(line, sizeof line, from) != NULL) fputs(line, stdout);
    SHOW(pclose(from));
    SHOW(execl("/nowhere", "nowhere", NULL) == -1 && errno == ENOENT);
    return argument;
}

static void* blocks_others(void* argument) {
    block_one(SIGTERM);
    block_one(SIGUSR2);
    return argument;
}

// Whether the signals of the keyboard are ignored is the caller's, and nobody has changed it.
static void* looks_at_keyboard(void* argument) {
    struct sigaction action;
    for (int number = SIGINT; number <= SIGQUIT; ++number) {
        sigaction(number, NULL, &action);
        SHOW(action.sa_handler == SIG_IGN);
        SHOW(action.sa_handler == SIG_DFL);
    }
    return argument;
}

void masks_of_programs(void) {
    signal(SIGHUP, SIG_IGN);
    in_thread(looks_at_keyboard, NULL);
    in_thread(blocks_others, NULL);
    in_thread(starts_programs, NULL);
}

// --- vfork ---------------------------------------------------------------------------------------

static int s_ends[2];
static volatile int s_seen;

static void* reads_one(void* argument) {
    char byte = 0;
    *(_Atomic int*)argument = 1;
    return (void*)(intptr_t)(read(s_ends[0], &byte, 1) == 1 ? byte : errno);
}

// What its child does with descriptors, signals and masks is not done in the parent.
static void* vforks_once(void* argument) {
    sigset_t all, now;
    struct sigaction action;
    sigfillset(&all);
    s_seen = 0;
    pid_t const child = vfork();
    if (child == 0) {
        close(s_ends[0]);
        dup2(s_ends[1], 0);
        signal(SIGUSR1, SIG_IGN);
        sigprocmask(SIG_SETMASK, &all, NULL);
        s_seen = 5;
        execl("/nowhere", "nowhere", NULL);
        _exit(7);
    }
    SHOW(s_seen);
    SHOW(end_of(child));
    SHOW(sigaction(SIGUSR1, NULL, &action));
    SHOW(action.sa_handler == SIG_DFL);
    SHOW(pthread_sigmask(SIG_BLOCK, NULL, &now));
    SHOW(sigismember(&now, SIGUSR2));
    return argument;
}

void vforks(void) {
    pthread_t t;
    void* result = NULL;
    for (int by_main = 0; by_main != 2; ++by_main) {
        _Atomic int begun = 0;
        if (pipe(s_ends) != 0) abort();
        pthread_create(&t, NULL, reads_one, &begun);
        while (begun == 0) usleep(1000);
        usleep(10000);
        by_main ? vforks_once(NULL) : in_thread(vforks_once, NULL);
        if (write(s_ends[1], "x", 1) != 1) abort();
        pthread_join(t, &result);
        SHOW((intptr_t)result == 'x');
    }
}

// --- fork while others change what the child needs -----------------------------------------------

static atomic_int s_is_over;

static void handle_nothing(int number) { (void)number; }

static void* makes_threads(void* argument) {
    while (s_is_over == 0) in_thread(add_own, argument);
    return NULL;
}
static void change_action(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle_nothing;
    sigaction(SIGUSR1, &action, NULL);
}
static void* changes_actions(void* argument) {
    while (s_is_over == 0) change_action();
    return argument;
}

static int live_in_child(void) {
    struct sigaction action;
    alarm(20); // rather than stand still for ever
    if (sigaction(SIGUSR1, NULL, &action) != 0 || action.sa_handler != handle_nothing) return 1;
    signal(SIGUSR2, handle_nothing);
    if (system("exit 3") != 3 << 8) return 2;
    return (intptr_t)in_thread(add_own, (void*)2) == 9 ? 5 : 3;
}

void forks_among_others(void) {
    enum { k_threads = 3 };
    pthread_t t[2 * k_threads];
    change_action();
    for (int k = 0; k != k_threads; ++k) {
        pthread_create(&t[2 * k], NULL, makes_threads, NULL);
        pthread_create(&t[2 * k + 1], NULL, changes_actions, NULL);
    }
    int good = 0;
    fflush(stdout);
    for (int k = 0; k != 40; ++k) {
        pid_t const child = fork();
        if (child == 0) {
            s_is_over = 1;
            _exit(live_in_child());
        }
        good += end_of(child) == 5;
    }
    s_is_over = 1;
    for (int k = 0; k != 2 * k_threads; ++k) pthread_join(t[k], NULL);
    SHOW(good);
}

// --- fork while the first threads begin, wait and end --------------------------------------------

static void* reads_byte(void* pipe_end) {
    char byte = 0;
    return (void*)(intptr_t)read(*(int*)pipe_end, &byte, 1);
}
static void* waits_once(void* argument) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    pthread_t reader;
    pthread_create(&reader, NULL, reads_byte, &ends[0]);
    if (write(ends[1], "x", 1) != 1) abort();
    pthread_join(reader, NULL);
    return argument;
}

void forks_at_begin(void) {
    enum { k_children = 20 };
    pid_t children[k_children];
    pthread_t t;
    int good = 0;
    fflush(stdout);
    pthread_create(&t, NULL, waits_once, NULL);
    for (int k = 0; k != k_children; ++k) {
        children[k] = fork();
        if (children[k] == 0) {
            alarm(20); // rather than stand still for ever
            in_thread(waits_once, NULL);
            _exit((intptr_t)in_thread(add_own, (void*)2) == 9 ? 5 : 3);
        }
        usleep(20000);
    }
    for (int k = 0; k != k_children; ++k) good += end_of(children[k]) == 5;
    pthread_join(t, NULL);
    SHOW(good);
}

// --- pthread_once that another thread has begun --------------------------------------------------

static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static atomic_int s_has_begun, s_may_end;

static void begin(void) {
    atomic_fetch_add(&s_has_begun, 1);
    while (s_may_end == 0) usleep(1000);
}
static void* calls_once(void* argument) {
    pthread_once(&s_once, begin);
    return argument;
}
static void* forks_then(void* argument) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        alarm(20);
        s_may_end = 1;
        calls_once(NULL);
        in_thread(calls_once, NULL);
        _exit(s_has_begun);
    }
    SHOW(end_of(child));
    return argument;
}

void once_over_fork(void) {
    pthread_t t;
    pthread_create(&t, NULL, calls_once, NULL);
    while (s_has_begun == 0) usleep(1000);
    in_thread(forks_then, NULL);
    forks_then(NULL);
    s_may_end = 1;
    pthread_join(t, NULL);
    calls_once(NULL);
    SHOW(s_has_begun);
}

// --- waits for children --------------------------------------------------------------------------

static pid_t start(char const* text) {
    pid_t child = 0;
    char* const words[] = {"sh", "-c", (char*)text, NULL};
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) != 0) abort();
    return child;
}

// Goes on when it is let go, and ends a while later, so that it is waited for.
static pid_t start_stopped(char const* text) {
    if (pipe(s_ends) != 0 || dup2(s_ends[0], 0) != 0) abort();
    return start(text);
}
static void let_go(void) {
    if (write(s_ends[1], "\n", 1) != 1) abort();
}

static void* waits_in_all_ways(void* argument) {
    int status = 0;
    struct rusage usage;
    siginfo_t about;
    pid_t child = start("exit 1");
    SHOW(waitpid(child, &status, 0) == child);
    SHOW(WEXITSTATUS(status));
    child = start_stopped("read line; sleep 0.05; exit 2");
    SHOW(waitpid(child, &status, WNOHANG));
    let_go();
    SHOW(wait(&status) == child);
    SHOW(WEXITSTATUS(status));
    child = start("exit 3");
    SHOW(wait3(&status, 0, &usage) == child);
    SHOW(WEXITSTATUS(status));
    child = start("exit 4");
    SHOW(wait4(child, &status, 0, &usage) == child);
    SHOW(WEXITSTATUS(status));
    child = start("sleep 0.05; exit 5");
    SHOW(waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT));
    SHOW(about.si_pid == child && about.si_status == 5);
    SHOW(waitid(P_ALL, 0, &about, WEXITED));
    SHOW(about.si_pid == child && about.si_status == 5);
    child = start("kill -STOP $$; exit 6");
    SHOW(waitpid(child, &status, WUNTRACED) == child);
    SHOW(WIFSTOPPED(status));
    kill(child, SIGCONT);
    SHOW(end_of(child));
    SHOW(wait(&status) == -1 && errno == ECHILD);
    SHOW(waitid(P_ALL, 0, &about, WEXITED) == -1 && errno == ECHILD);
    SHOW(system("exit 7") == 7 << 8);
    SHOW(system("kill -KILL $$") == SIGKILL);
    SHOW(system(NULL) != 0);
    return argument;
}

void waits_for_children(void) { in_thread(waits_in_all_ways, NULL); }

static atomic_int s_waits;
static void* waits_for_long(void* way) {
    int status = 0;
    siginfo_t about;
    pid_t const child = (intptr_t)way != 3 ? start("exec sleep 100") : 0;
    *(_Atomic pid_t*)&s_seen = child;
    s_waits = 1;
    switch ((intptr_t)way) {
        case 0: waitpid(child, &status, 0); break;
        case 1: wait(&status); break;
        case 2: waitid(P_ALL, 0, &about, WEXITED); break;
        default: status = system("exec sleep 100"); break;
    }
    return NULL;
}

void cancelled_waits(void) {
    struct sigaction action;
    for (intptr_t way = 0; way != 4; ++way) {
        pthread_t t;
        void* result = NULL;
        s_waits = 0;
        pthread_create(&t, NULL, waits_for_long, (void*)way);
        while (s_waits == 0) usleep(1000);
        usleep(20000);
        int const error = pthread_cancel(t);
        pthread_join(t, &result);
        SHOW(error);
        SHOW(result == PTHREAD_CANCELED);
        if (s_seen > 0) {
            kill(s_seen, SIGKILL);
            SHOW(end_of(s_seen));
        }
        SHOW(wait(NULL) == -1 && errno == ECHILD);
        SHOW(sigaction(SIGINT, NULL, &action));
        SHOW(action.sa_handler == SIG_DFL);
    }
}

// --- mutexes that processes share ----------------------------------------------------------------

static struct timespec soon(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 20000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

struct shared {
    pthread_mutex_t mutex;
    atomic_int step; // who is to go on
};

static void await_step(struct shared* s, int step) {
    while (s->step != step) usleep(1000);
}

static void* holds(void* argument) {
    struct shared* const s = argument;
    SHOW(pthread_mutex_lock(&s->mutex));
    SHOW(pthread_mutex_lock(&s->mutex));
    for (int k = 0; k != 20; ++k) sched_yield();
    s->step = 1;
    await_step(s, 2);
    SHOW(pthread_mutex_unlock(&s->mutex));
    s->step = 3;
    await_step(s, 4);
    SHOW(pthread_mutex_unlock(&s->mutex));
    return argument;
}

static void* is_kept_out(void* argument) {
    struct shared* const s = argument;
    struct timespec const until = soon();
    int wrong = 0;
    await_step(s, 1);
    wrong += pthread_mutex_trylock(&s->mutex) != EBUSY;
    wrong += pthread_mutex_unlock(&s->mutex) != EPERM;
    s->step = 2;
    await_step(s, 3);
    wrong += pthread_mutex_timedlock(&s->mutex, &until) != ETIMEDOUT;
    s->step = 4;
    wrong += pthread_mutex_lock(&s->mutex) != 0;
    wrong += pthread_mutex_lock(&s->mutex) != 0;
    wrong += pthread_mutex_unlock(&s->mutex) != 0;
    wrong += pthread_mutex_unlock(&s->mutex) != 0;
    return (void*)(intptr_t)wrong;
}

void shared_mutexes(void) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    for (int round = 0; round != 3; ++round) {
        struct shared* const s =
            mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pthread_mutex_init(&s->mutex, &how);
        fflush(stdout);
        pid_t const child = fork();
        if (child == 0) {
            alarm(30);
            _exit((int)(intptr_t)in_thread(is_kept_out, s));
        }
        in_thread(holds, s);
        SHOW(end_of(child));
        SHOW(pthread_mutex_destroy(&s->mutex));
        pthread_t t;
        void* kept = NULL;
        s->step = 0;
        pthread_mutex_init(&s->mutex, &how);
        pthread_create(&t, NULL, is_kept_out, s);
        in_thread(holds, s);
        pthread_join(t, &kept);
        SHOW((intptr_t)kept);
    }
}

// --- robust mutexes ------------------------------------------------------------------------------

static pthread_cond_t s_never = PTHREAD_COND_INITIALIZER;

static void* ends_with(void* m) {
    SHOW(pthread_mutex_lock(m));
    return m;
}
static void* exits_with(void* m) {
    SHOW(pthread_mutex_trylock(m));
    pthread_exit(m);
}
static void* is_cancelled_with(void* m) {
    SHOW(pthread_mutex_lock(m));
    pthread_cancel(pthread_self());
    pthread_cond_wait(&s_never, m);
    return m;
}

static void* recovers(void* m) {
    struct timespec const until = soon();
    SHOW(pthread_mutex_timedlock(m, &until) == EOWNERDEAD);
    SHOW(pthread_mutex_consistent(m));
    SHOW(pthread_mutex_consistent(m) == EINVAL);
    SHOW(pthread_mutex_unlock(m));
    SHOW(pthread_mutex_lock(m));
    SHOW(pthread_mutex_unlock(m));
    return m;
}

static void* is_refused(void* m) {
    struct timespec const until = soon();
    SHOW(pthread_mutex_trylock(m) == EBUSY);
    SHOW(pthread_mutex_unlock(m) == EPERM);
    SHOW(pthread_mutex_timedlock(m, &until) == ETIMEDOUT);
    return m;
}

static void* locks_twice(void* m) {
    SHOW(pthread_mutex_lock(m));
    SHOW(pthread_mutex_trylock(m));
    int const again = pthread_mutex_trylock(m);
    in_thread(is_refused, m);
    SHOW(pthread_mutex_unlock(m));
    if (again == 0) SHOW(pthread_mutex_unlock(m));
    return m;
}

static void* gives_up(void* m) {
    SHOW(pthread_mutex_lock(m) == EOWNERDEAD);
    SHOW(pthread_mutex_unlock(m));
    SHOW(pthread_mutex_lock(m) == ENOTRECOVERABLE);
    SHOW(pthread_mutex_trylock(m) == ENOTRECOVERABLE);
    return m;
}

static void* waits_for_it(void* m) {
    s_waits = 1;
    int const error = pthread_mutex_lock(m);
    SHOW(error == EOWNERDEAD);
    SHOW(pthread_mutex_consistent(m));
    SHOW(pthread_mutex_unlock(m));
    return m;
}
static void* ends_while_waited_for(void* m) {
    SHOW(pthread_mutex_lock(m));
    s_has_begun = 1;
    while (s_waits == 0) usleep(1000);
    usleep(20000);
    return m;
}

static void* counts_under(void* m) {
    for (int k = 0; k != 2000; ++k) {
        if (pthread_mutex_lock(m) != 0) abort();
        int const seen = s_seen;
        if (k % 100 == 0) sched_yield();
        s_seen = seen + 1;
        if (pthread_mutex_unlock(m) != 0) abort();
    }
    return m;
}

static void try_robust(pthread_mutex_t* m) {
    pthread_t t, waiter;
    in_thread(ends_with, m);
    in_thread(recovers, m);
    in_thread(exits_with, m);
    recovers(m);
    in_thread(is_cancelled_with, m);
    in_thread(recovers, m);
    SHOW(pthread_mutex_lock(m)); // main
    in_thread(is_refused, m);
    SHOW(pthread_mutex_unlock(m));
    in_thread(locks_twice, m);
    s_waits = s_has_begun = 0;
    pthread_create(&t, NULL, ends_while_waited_for, m);
    while (s_has_begun == 0) usleep(1000);
    pthread_create(&waiter, NULL, waits_for_it, m);
    pthread_join(t, NULL);
    pthread_join(waiter, NULL);
    pthread_t all[4];
    s_seen = 0;
    for (int k = 0; k != 4; ++k) pthread_create(&all[k], NULL, counts_under, m);
    counts_under(m);
    for (int k = 0; k != 4; ++k) pthread_join(all[k], NULL);
    SHOW(s_seen);
}

static void* dies_with(void* m) {
    if (pthread_mutex_lock(m) != 0) _exit(1);
    kill(getpid(), SIGKILL);
    return m;
}

void robust_mutexes(void) {
    pthread_mutexattr_t how;
    int protocol = -1;
    pthread_mutexattr_init(&how);
    SHOW(pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST));
    pthread_mutex_t* const m =
        mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int const kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE};
    for (int shared = 0; shared != 2; ++shared) {
        pthread_mutexattr_setpshared(&how,
                                     shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        for (int k = 0; k != 2; ++k) {
            pthread_mutexattr_settype(&how, kinds[k]);
            SHOW(pthread_mutex_init(m, &how));
            if (kinds[k] == PTHREAD_MUTEX_RECURSIVE) try_robust(m);
            in_thread(ends_with, m);
            in_thread(gives_up, m);
            SHOW(pthread_mutex_destroy(m));
        }
    }
    SHOW(pthread_mutex_init(m, &how));
    fflush(stdout);
    for (int by_main = 0; by_main != 2; ++by_main) {
        pid_t const child = fork();
        if (child == 0) in_thread(dies_with, m);
        SHOW(end_of(child) == -SIGKILL);
        by_main ? recovers(m) : in_thread(recovers, m);
    }
    SHOW(pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT));
    SHOW(pthread_mutexattr_getprotocol(&how, &protocol));
    SHOW(protocol == PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_t inherits;
    pthread_mutex_t plain;
    pthread_mutexattr_init(&inherits);
    SHOW(pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT));
    SHOW(pthread_mutex_init(&plain, &inherits));
    s_seen = 0;
    pthread_t all[4];
    for (int k = 0; k != 4; ++k) pthread_create(&all[k], NULL, counts_under, &plain);
    counts_under(&plain);
    for (int k = 0; k != 4; ++k) pthread_join(all[k], NULL);
    SHOW(s_seen);
    SHOW(pthread_mutex_destroy(&plain));
}

// --- calls that block, while others are to go on -------------------------------------------------

static char s_path[] = "/tmp/pthread-cases-XXXXXX";

static int open_again(void) { return fileno(fopen(s_path, "r+")); }

static void* locks_file(void* argument) {
    int const number = open_again();
    atomic_fetch_add(&s_waits, 1);
    int const wrong = flock(number, LOCK_EX) != 0 || flock(number, LOCK_UN) != 0;
    return wrong ? NULL : argument;
}

static void* holds_file(void* argument) {
    enum { k_waiters = 20 };
    int const number = open_again();
    pthread_t t[k_waiters];
    SHOW(flock(number, LOCK_EX));
    s_waits = 0;
    for (int k = 0; k != k_waiters; ++k) pthread_create(&t[k], NULL, locks_file, t);
    while (s_waits != k_waiters) usleep(1000);
    usleep(10000);
    SHOW(flock(open_again(), LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
    SHOW(fsync(number));
    SHOW(flock(number, LOCK_UN));
    for (int k = 0; k != k_waiters; ++k) {
        void* result = NULL;
        pthread_join(t[k], &result);
        SHOW(result == t);
    }
    return argument;
}

static void* waits_for_reader(void* argument) {
    int const child = start("read line <&3; exit 4");
    s_waits = 1;
    SHOW(end_of(child));
    return argument;
}

static void* writes_line(void* argument) {
    pthread_t t;
    s_waits = 0;
    if (pipe(s_ends) != 0 || dup2(s_ends[0], 3) < 0) abort();
    pthread_create(&t, NULL, waits_for_reader, NULL);
    while (s_waits == 0) usleep(1000);
    usleep(10000);
    if (write(s_ends[1], "x\n", 2) != 2) abort();
    pthread_join(t, NULL);
    return argument;
}

static void* uses_file(void* argument) {
    int const number = open_again();
    char text[32] = "";
    SHOW(pwrite(number, "hello, world", 12, 100));
    SHOW(pwrite(number, "HELLO", 5, 100));
    SHOW(pread(number, text, sizeof text - 1, 100));
    puts(text);
    SHOW(pread(number, text, 4, 0));
    SHOW(text[0]);
    SHOW(pread(number, text, 4, 200));
    SHOW(pread(number, text, 4, -1) == -1 && errno == EINVAL);
    SHOW(pread(-1, text, 4, 0) == -1 && errno == EBADF);
    SHOW(pwrite(s_ends[1], text, 4, 0) == -1 && errno == ESPIPE);
    errno = 77;
    SHOW(fsync(number));
    SHOW(fdatasync(number));
    SHOW(errno);
    SHOW(fsync(-1) == -1 && errno == EBADF);
    SHOW(fsync(s_ends[1]) == -1 && errno == EINVAL);
    SHOW(flock(-1, LOCK_SH) == -1 && errno == EBADF);
    struct addrinfo const hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo* found = NULL;
    SHOW(getaddrinfo("127.0.0.1", "80", &hints, &found));
    SHOW(found->ai_family == AF_INET && found->ai_next == NULL);
    freeaddrinfo(found);
    SHOW(getaddrinfo("no address", "80", &hints, &found) == EAI_NONAME);
    return argument;
}

void blocking_calls(void) {
    int const number = mkstemp(s_path);
    if (number < 0) abort();
    in_thread(holds_file, NULL);
    in_thread(writes_line, NULL);
    in_thread(uses_file, NULL);
    unlink(s_path);
}

// --- what a call that succeeds leaves of errno --------------------------------------------------

// The others are late, so that the calls wait; nothing tells from outside when one has begun to.
enum { k_much = 200000 };

static void* writes_late(void* numbers) {
    int const* const to = numbers;
    usleep(20000);
    if (write(to[0], "x", 1) != 1) abort();
    usleep(20000);
    if (send(to[1], "y", 1, 0) != 1) abort();
    usleep(20000);
    if (write(to[0], "z", 1) != 1) abort();
    return NULL;
}

static void* reads_late(void* number) {
    static char all[k_much];
    usleep(20000);
    for (ssize_t got = 0, sum = 0; sum != k_much; sum += got)
        if ((got = read(*(int const*)number, all, sizeof all)) <= 0) abort();
    return NULL;
}

#define SHOW_WITH_ERRNO(expression)                                                                \
    do {                                                                                           \
        errno = 0;                                                                                 \
        SHOW(expression);                                                                          \
        SHOW(errno);                                                                               \
    } while (0)

static void* waits_for_others(void* argument) {
    static char all[k_much];
    int through[2], sockets[2];
    if (pipe(through) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) abort();
    int to[] = {through[1], sockets[1]};
    pthread_t t;
    pthread_create(&t, NULL, writes_late, to);
    SHOW_WITH_ERRNO(read(through[0], all, 1));
    SHOW_WITH_ERRNO(recv(sockets[0], all, 1, 0));
    struct pollfd asked = {through[0], POLLIN, 0};
    SHOW_WITH_ERRNO(poll(&asked, 1, -1));
    SHOW_WITH_ERRNO(read(through[0], all, 1));
    pthread_join(t, NULL);
    pthread_create(&t, NULL, reads_late, &through[0]);
    SHOW_WITH_ERRNO(write(through[1], all, sizeof all));
    pthread_join(t, NULL);
    pthread_create(&t, NULL, reads_late, &sockets[0]);
    SHOW_WITH_ERRNO(send(sockets[1], all, sizeof all, 0));
    pthread_join(t, NULL);
    SHOW_WITH_ERRNO(usleep(1000));
    return argument;
}

void errno_after_waits(void) { in_thread(waits_for_others, NULL); }
