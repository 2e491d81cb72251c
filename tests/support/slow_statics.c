// SPDX-License-Identifier: Apache-2.0
// In a library that is loaded before all others, or in the program itself: whoever makes a static
// variable of a function when it is first needed takes long to do so, so that others fork
// meanwhile.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int (*function)(long long* guard);

int __cxa_guard_acquire(long long* guard);
int __cxa_guard_acquire(long long* guard) {
    static function s_next;
    if (s_next == NULL) *(void**)&s_next = dlsym(RTLD_NEXT, "__cxa_guard_acquire");
    int const is_to_make = s_next(guard);
    struct timespec const time = {0, 100000000};
    if (is_to_make) syscall(SYS_nanosleep, &time, NULL);
    return is_to_make;
}
