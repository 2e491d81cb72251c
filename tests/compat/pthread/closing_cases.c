// SPDX-License-Identifier: Apache-2.0
// Cases of programs that close whatever may be open, while their threads wait.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

static void* reads(void* unused) {
    char byte = 0;
    (void)unused;
    return (void*)(intptr_t)(read(s_ends[0], &byte, 1) == 1 && byte == 'c');
}

// Threads wait for one file and have a file of their own by the time all others are closed.
static void close_all(void (*close_from)(int)) {
    pthread_t threads[k_waiting];
    if (pipe(s_ends) != 0) abort();
    for (int k = 0; k != k_waiting; ++k)
        if (pthread_create(&threads[k], NULL, &reads, NULL) != 0) abort();
    usleep(20000);
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
