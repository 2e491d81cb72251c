// SPDX-License-Identifier: Apache-2.0
// Cases of <threads.h>, and of functions that are seldom called.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

// --- <threads.h> ---------------------------------------------------------------------------------

static mtx_t s_mutex;
static cnd_t s_changed;
static once_flag s_once = ONCE_FLAG_INIT;
static tss_t s_key;
static int s_count, s_onces, s_destroyed;

static void count_once(void) { ++s_onces; }
static void count_value(void* value) {
    (void)value;
    mtx_lock(&s_mutex);
    ++s_destroyed;
    mtx_unlock(&s_mutex);
}

static int waits_for_turn(void* number) {
    int const turn = (int)(intptr_t)number;
    call_once(&s_once, count_once);
    tss_set(s_key, &s_count);
    mtx_lock(&s_mutex);
    while (s_count != turn) cnd_wait(&s_changed, &s_mutex);
    ++s_count;
    cnd_broadcast(&s_changed);
    mtx_unlock(&s_mutex);
    if (turn % 2 == 0) thrd_exit(-turn);
    return tss_get(s_key) == &s_count ? turn : 10000;
}

static struct timespec after_ms(long ms) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int is_kept_out(void* argument) {
    (void)argument;
    struct timespec const soon = after_ms(20);
    int const is_busy = mtx_trylock(&s_mutex) == thrd_busy;
    return is_busy + 2 * (mtx_timedlock(&s_mutex, &soon) == thrd_timedout);
}

void c11_threads(void) {
    enum { k_threads = 100 };
    thrd_t t[k_threads];
    int sum = 0, result = 0;
    SHOW(mtx_init(&s_mutex, mtx_plain) == thrd_success);
    SHOW(cnd_init(&s_changed) == thrd_success);
    SHOW(tss_create(&s_key, count_value) == thrd_success);
    for (intptr_t k = 0; k != k_threads; ++k)
        if (thrd_create(&t[k], waits_for_turn, (void*)(k_threads - 1 - k)) != thrd_success) abort();
    for (int k = 0; k != k_threads; ++k) {
        if (thrd_join(t[k], &result) != thrd_success) abort();
        sum += result;
    }
    SHOW(sum);
    SHOW(s_onces);
    SHOW(s_destroyed);
    mtx_destroy(&s_mutex);

    SHOW(mtx_init(&s_mutex, mtx_timed | mtx_recursive) == thrd_success);
    SHOW(mtx_lock(&s_mutex) == thrd_success && mtx_lock(&s_mutex) == thrd_success);
    SHOW(thrd_create(&t[0], is_kept_out, NULL) == thrd_success);
    SHOW(thrd_join(t[0], &result) == thrd_success);
    SHOW(result);
    SHOW(mtx_unlock(&s_mutex) == thrd_success && mtx_unlock(&s_mutex) == thrd_success);
    struct timespec const soon = after_ms(20), moment = {0, 1000000}, wrong = {0, -1};
    mtx_lock(&s_mutex);
    SHOW(cnd_timedwait(&s_changed, &s_mutex, &soon) == thrd_timedout);
    mtx_unlock(&s_mutex);
    SHOW(thrd_sleep(&moment, NULL));
    SHOW(thrd_sleep(&wrong, NULL) < -1);
    SHOW(thrd_equal(thrd_current(), thrd_current()) != 0);
    thrd_yield();
    cnd_destroy(&s_changed);
    mtx_destroy(&s_mutex);
    tss_delete(s_key);
}

// Many more than the system has OS threads for, by which it is seen what they are.
static int waits_for_all(void* argument) {
    mtx_lock(&s_mutex);
    ++s_count;
    cnd_broadcast(&s_changed);
    while (s_count > 0) cnd_wait(&s_changed, &s_mutex);
    mtx_unlock(&s_mutex);
    return argument != NULL;
}

void hold_c11(void) {
    enum { k_threads = 2000 };
    mtx_init(&s_mutex, mtx_plain);
    cnd_init(&s_changed);
    for (int k = 0; k != k_threads; ++k) {
        thrd_t t;
        if (thrd_create(&t, waits_for_all, NULL) != thrd_success) abort();
    }
    mtx_lock(&s_mutex);
    while (s_count != k_threads) cnd_wait(&s_changed, &s_mutex);
    mtx_unlock(&s_mutex);
    puts("waiting");
    pause();
}

// --- signals, before POSIX.1 ---------------------------------------------------------------------

// They are what is to be tried.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static volatile sig_atomic_t s_handled;
static pthread_t s_sleeper;
static volatile int s_sleeps;

static void handle(int number) { s_handled = s_handled + number; }

static void* signals_sleeper(void* argument) {
    while (s_sleeps == 0) usleep(1000);
    usleep(10000);
    pthread_kill(s_sleeper, SIGUSR1);
    return argument;
}

static void* uses_old_signals(void* argument) {
    sigset_t set;
    SHOW(sigset(SIGUSR2, handle) == SIG_DFL);
    SHOW(sighold(SIGUSR2));
    raise(SIGUSR2);
    SHOW(s_handled == 0);
    SHOW(sigpending(&set) == 0 && sigismember(&set, SIGUSR2));
    SHOW(sigrelse(SIGUSR2));
    SHOW(s_handled == SIGUSR2);
    SHOW(sigset(SIGUSR2, SIG_HOLD) == handle);
    SHOW(sigset(SIGUSR2, SIG_IGN) == SIG_HOLD);
    SHOW(sigignore(SIGUSR2));
    SHOW(ssignal(SIGUSR2, SIG_DFL) == SIG_IGN);
    SHOW(sigset(-1, SIG_DFL) == SIG_ERR && errno == EINVAL);
    SHOW(sighold(-1) == -1 && errno == EINVAL);

    pthread_t t;
    signal(SIGUSR1, handle);
    SHOW(siginterrupt(SIGUSR1, 1));
    struct sigaction action;
    sigaction(SIGUSR1, NULL, &action);
    SHOW((action.sa_flags & SA_RESTART) == 0);
    sighold(SIGUSR1);
    s_sleeper = pthread_self();
    s_sleeps = 1;
    pthread_create(&t, NULL, signals_sleeper, NULL);
    SHOW(sigpause(SIGUSR1) == -1 && errno == EINTR);
    pthread_join(t, NULL);
    SHOW(s_handled == SIGUSR1 + SIGUSR2);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    SHOW(sigismember(&set, SIGUSR1));
    return argument;
}

static void* shows_mask(void* argument) {
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    SHOW(sigismember(&set, SIGUSR1) == 0 && sigismember(&set, SIGTTIN) == 1);
    return argument;
}

static void* is_sent_values(void* argument) {
    s_sleeper = pthread_self();
    s_sleeps = 1;
    while (s_handled == 0) usleep(1000);
    return argument;
}

void older_functions(void) {
    pthread_t t;
    pthread_attr_t how;
    sigset_t set;
    in_thread(uses_old_signals, NULL);
    pthread_attr_init(&how);
    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    SHOW(pthread_attr_setsigmask_np(&how, &set));
    pthread_create(&t, &how, shows_mask, NULL);
    pthread_join(t, NULL);

    s_handled = s_sleeps = 0;
    signal(SIGUSR2, handle);
    pthread_create(&t, NULL, is_sent_values, NULL);
    while (s_sleeps == 0) usleep(1000);
    SHOW(pthread_sigqueue(t, -1, (union sigval){.sival_int = 4}) == EINVAL);
    SHOW(pthread_sigqueue(t, SIGUSR2, (union sigval){.sival_int = 4}));
    pthread_join(t, NULL);
    SHOW(s_handled == SIGUSR2);
}

// --- cleanup handlers with the type of cancellation ----------------------------------------------

static void note_cleanup(void* text) { puts(text); }

static void* is_deferred(void* argument) {
    int type = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push_defer_np(note_cleanup, "first");
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    SHOW(type == PTHREAD_CANCEL_DEFERRED);
    pthread_cleanup_pop_restore_np(1);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    SHOW(type == PTHREAD_CANCEL_ASYNCHRONOUS);
    pthread_cleanup_push_defer_np(note_cleanup, "second");
    pthread_cancel(pthread_self());
    pthread_testcancel();
    pthread_cleanup_pop_restore_np(0);
    return argument;
}

void deferred_cleanups(void) { SHOW(in_thread(is_deferred, NULL) == PTHREAD_CANCELED); }

// --- second names --------------------------------------------------------------------------------

#ifndef CASES_ARE_STATIC // there they are the C library's own
int lock_by_other_name(pthread_mutex_t* m);
int unlock_by_other_name(pthread_mutex_t* m);
#if defined(__x86_64__) // the version that its port of the C library began with
#define FIRST_VERSION "GLIBC_2.2.5"
#elif defined(__riscv)
#define FIRST_VERSION "GLIBC_2.27"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif
__asm__(".symver lock_by_other_name, __pthread_mutex_lock@" FIRST_VERSION);
__asm__(".symver unlock_by_other_name, __pthread_mutex_unlock@" FIRST_VERSION);

static pthread_mutex_t s_plain = PTHREAD_MUTEX_INITIALIZER;
static int s_locked;

static void* locks_by_other_name(void* argument) {
    for (int k = 0; k != 1000; ++k) {
        if (lock_by_other_name(&s_plain) != 0) abort();
        ++s_locked;
        if (k % 10 == 0) usleep(1);
        if (unlock_by_other_name(&s_plain) != 0) abort();
    }
    return argument;
}

int __open(char const* path, int flags, ...);
int __open64(char const* path, int flags, ...);
static int (*const s_opens[])(char const*, int, ...) = {open, open64, __open, __open64};

// Whoever has been cancelled opens no file.
static void* opens_cancelled(void* number) {
    pthread_cancel(pthread_self());
    s_opens[(intptr_t)number]("/dev/null", O_RDONLY);
    return NULL;
}
static void open_by_other_names(void) {
    char path[] = "/tmp/tulle-open-XXXXXX";
    struct stat about;
    close(mkstemp(path));
    for (intptr_t k = 0; k != 4; ++k) {
        SHOW(in_thread(opens_cancelled, (void*)k) == PTHREAD_CANCELED);
        unlink(path);
        int const number = s_opens[k](path, O_WRONLY | O_CREAT | O_EXCL, 0640);
        SHOW(number >= 0 && fstat(number, &about) == 0 && (about.st_mode & 0740) == 0640);
        close(number);
    }
    unlink(path);
}

// Those that wait by one name are woken by the other.
void second_names(void) {
    open_by_other_names();
    enum { k_threads = 4 };
    pthread_t t[k_threads];
    for (int k = 0; k != k_threads; ++k) pthread_create(&t[k], NULL, locks_by_other_name, NULL);
    for (int k = 0; k != 1000; ++k) {
        pthread_mutex_lock(&s_plain);
        ++s_locked;
        pthread_mutex_unlock(&s_plain);
    }
    for (int k = 0; k != k_threads; ++k) pthread_join(t[k], NULL);
    SHOW(s_locked);
}
#endif

// --- names of hosts ------------------------------------------------------------------------------

static void* resolves(void* argument) {
    char host[64], service[64], buffer[1024];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    SHOW(getnameinfo((struct sockaddr*)&address, sizeof address, host, sizeof host, service,
                     sizeof service, NI_NUMERICHOST | NI_NUMERICSERV));
    printf("%s %s\n", host, service);
    struct hostent one, *found = NULL;
    int error = -1;
    SHOW(gethostbyname_r("127.0.0.1", &one, buffer, sizeof buffer, &found, &error));
    SHOW(found == &one && found->h_addrtype == AF_INET);
    SHOW(gethostbyname_r("127.0.0.1", &one, buffer, 1, &found, &error) == ERANGE);
    found = gethostbyname("127.0.0.2");
    SHOW(found != NULL && ((unsigned char*)found->h_addr_list[0])[3] == 2);
    SHOW(gethostbyname2("127.0.0.1", AF_INET6) == NULL);
    SHOW(h_errno != 0);
    return argument;
}

void hosts(void) { in_thread(resolves, NULL); }

// --- memory that threads leave -------------------------------------------------------------------

static void* uses_memory(void* argument) {
    enum { k_pieces = 20 };
    void* pieces[k_pieces];
    for (size_t k = 0; k != k_pieces; ++k) {
        pieces[k] = malloc(24 + 8 * k);
        *(volatile char*)pieces[k] = 1;
    }
    for (size_t k = 0; k != k_pieces; ++k) free(pieces[k]);
    return argument;
}

static long pages(void) {
    long all = 0, resident = -1;
    FILE* const from = fopen("/proc/self/statm", "r");
    if (from == NULL || fscanf(from, "%ld %ld", &all, &resident) != 2) abort();
    fclose(from);
    return resident;
}

static void use_threads(int count) {
    for (int k = 0; k != count; ++k) in_thread(uses_memory, NULL);
}

// What the allocator keeps for a thread is there for others when it has ended.
void memory_of_threads(void) {
    use_threads(200);
    long const before = pages();
    use_threads(5000);
    SHOW(pages() - before < 500);
}
