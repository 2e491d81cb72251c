// SPDX-License-Identifier: Apache-2.0
// Cases of programs that close whatever may be open, while their threads wait.
#define _GNU_SOURCE
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { k_most = 4096, k_waiting = 20 };

static void by_loop(int first) {
    for (int number = first; number != k_most; ++number) close(number);
}
static void by_system_calls(int first) {
    for (int number = first; number != k_most; ++number) syscall(SYS_close, number);
}
static void by_range(int first) {
    if (close_range((unsigned)first, ~0U, 0) != 0) abort();
}
static void by_range_of_system(int first) {
    if (syscall(SYS_close_range, first, k_most, 0) != 0) abort();
}
static void by_parts(int first) {
    for (int number = first; number < k_most; number += 10)
        if (close_range((unsigned)number, (unsigned)number + 9, 0) != 0) abort();
}
static void from_first(int first) { closefrom(first); }

static int s_ends[2];
static pthread_barrier_t s_have_waited;

// By the time that it reads it has waited for the file once.
static void* reads(void* unused) {
    struct pollfd asked = {s_ends[0], POLLIN, 0};
    char byte = 0;
    if (poll(&asked, 1, 1) != 0) abort();
    pthread_barrier_wait(&s_have_waited);
    (void)unused;
    return (void*)(intptr_t)(read(s_ends[0], &byte, 1) == 1 && byte == 'c');
}

// Threads wait for one file and have a file of their own by the time all others are closed.
static void close_all(void (*close_from)(int)) {
    pthread_t threads[k_waiting];
    if (pipe(s_ends) != 0 || pthread_barrier_init(&s_have_waited, NULL, k_waiting + 1) != 0)
        abort();
    for (int k = 0; k != k_waiting; ++k)
        if (pthread_create(&threads[k], NULL, &reads, NULL) != 0) abort();
    pthread_barrier_wait(&s_have_waited);
    int const first = s_ends[1] + 1;
    SHOW(open("/dev/null", O_RDONLY) == first);
    close_from(first);
    SHOW(fcntl(first, F_GETFD) < 0 && errno == EBADF);
    SHOW(open("/dev/null", O_RDONLY) == first);
    for (int k = 0; k != k_waiting; ++k)
        if (write(s_ends[1], "c", 1) != 1) abort();
    int woken = 0;
    for (int k = 0; k != k_waiting; ++k) {
        void* was_woken;
        pthread_join(threads[k], &was_woken);
        woken += was_woken != NULL;
    }
    SHOW(woken);
    pthread_barrier_destroy(&s_have_waited);
    close(first);
    close(s_ends[0]);
    close(s_ends[1]);
}

static void* closes_all(void* unused) {
    close_all(&by_loop);
    close_all(&by_system_calls);
    close_all(&by_range);
    close_all(&by_range_of_system);
    close_all(&by_parts);
    close_all(&from_first);
    return unused;
}

static void* at_once(void* unused) {
    SHOW(close_range(5, 4, 0) < 0 && errno == EINVAL);
    SHOW(dup2(-1, 1000) < 0 && errno == EBADF);
    return unused;
}

void closed_by_number(void) {
    in_thread(&closes_all, NULL);
    in_thread(&at_once, NULL);
}

// --- files of the run time, of which there are none natively -------------------------------------

extern int __close(int number);
extern int __dup2(int number, int becomes);

static int s_is_ours[k_most], s_private[k_most], s_count;

static int stands(int number) { return syscall(SYS_fcntl, number, F_GETFD) >= 0; }

// What /proc lists and the program has not opened. How many of them tell of the end of a process.
static int find_private(void) {
    DIR* const all = opendir("/proc/self/fd");
    int ends = 0;
    s_count = 0;
    for (struct dirent* entry; (entry = readdir(all)) != NULL;) {
        int const number = atoi(entry->d_name);
        char means[64] = "";
        if (entry->d_name[0] == '.' || number >= k_most || number == dirfd(all)) continue;
        if (s_is_ours[number]) continue;
        s_private[s_count++] = number;
        if (readlinkat(dirfd(all), entry->d_name, means, sizeof means - 1) < 0) abort();
        ends += strstr(means, "pidfd") != NULL;
    }
    closedir(all);
    return ends;
}

static int fails(long result, int error) { return result < 0 && errno == error; }

// How many of these stand, and are refused so by this call.
#define SHOW_REFUSED(call, error)                                                                  \
    do {                                                                                           \
        int refused = 0;                                                                           \
        for (int k = 0; k != s_count; ++k) {                                                       \
            int const number = s_private[k];                                                       \
            refused += fails(call, error) && stands(number);                                       \
        }                                                                                          \
        printf("%s: %s\n", #call, refused == s_count ? #error : "not refused");                    \
    } while (0)

static void show_refused(void) {
    SHOW_REFUSED(close(number), EBADF);
    SHOW_REFUSED(__close(number), EBADF);
    SHOW_REFUSED(syscall(SYS_close, number), EBADF);
    SHOW_REFUSED(fcntl(number, F_GETFD), EBADF);
    SHOW_REFUSED(dup2(number, 0), EBADF);
    SHOW_REFUSED(dup2(0, number), EBUSY);
    SHOW_REFUSED(__dup2(0, number), EBUSY);
    SHOW_REFUSED(dup3(0, number, 0), EBUSY);
    SHOW_REFUSED(syscall(SYS_dup3, 0, number, 0), EBUSY);
#ifdef SYS_dup2
    SHOW_REFUSED(syscall(SYS_dup2, 0, number), EBUSY);
#endif
}

// The child has none of them, and may have files of its own there.
static void use_in_child(void) {
    pid_t const child = fork();
    if (child == 0) {
        int used = 0;
        for (int k = 0; k != s_count; ++k) {
            int const number = s_private[k];
            used += !stands(number) && dup2(0, number) == number && close(number) == 0;
        }
        _exit(used == s_count ? 0 : 1);
    }
    SHOW(end_of(child));
}

static void* awaits(void* child) {
    int status = 0;
    return (void*)(intptr_t)(waitpid(*(pid_t*)child, &status, 0) == *(pid_t*)child);
}

static void* meets_private(void* unused) {
    pthread_t reader, waiter;
    void *has_read, *has_seen;
    if (pipe(s_ends) != 0 || pthread_barrier_init(&s_have_waited, NULL, 2) != 0) abort();
    s_is_ours[s_ends[0]] = s_is_ours[s_ends[1]] = 1;
    pid_t child = fork();
    if (child == 0) {
        for (;;) pause();
    }
    pthread_create(&reader, NULL, &reads, NULL);
    pthread_create(&waiter, NULL, &awaits, &child);
    pthread_barrier_wait(&s_have_waited);
    // The thread that waits for the child opens the descriptor that tells of its end some time
    // after it has begun. Until then it is not among those that the calls below are tried with.
    for (int tries = 0; find_private() != 1 && tries != 10000; ++tries) usleep(1000);
    SHOW(find_private());
    SHOW(s_count >= 3);
    show_refused();
    use_in_child();
    SHOW(close_range((unsigned)s_ends[1] + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0 && errno == EINVAL);
    by_range(s_ends[1] + 1);
    from_first(s_ends[1] + 1);
    kill(child, SIGKILL);
    if (write(s_ends[1], "c", 1) != 1) abort();
    pthread_join(reader, &has_read);
    pthread_join(waiter, &has_seen);
    SHOW(has_read != NULL && has_seen != NULL);
    return unused;
}

void numbers_of_the_run_time(void) {
    for (int number = 0; number != k_most; ++number) s_is_ours[number] = stands(number);
    in_thread(&meets_private, NULL);
}
