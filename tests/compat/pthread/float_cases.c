// SPDX-License-Identifier: Apache-2.0
// The floating-point environment: a thread begins with that of who has made it, and keeps its own.
#define _GNU_SOURCE
#include "cases.h"

#include <fenv.h>
#include <sched.h>
#include <unistd.h>

static void* show_environment(void* unused) {
    SHOW(fegetround());
    SHOW(fegetexcept());
    SHOW(fetestexcept(FE_ALL_EXCEPT));
    return unused;
}

// How often the flags were not the thread's own.
static void* raise_own_flags(void* flags) {
    int const own = *(int*)flags;
    long wrong = 0;
    for (int round = 1; round <= 200; ++round) {
        feclearexcept(FE_ALL_EXCEPT);
        if (round % 2 == 0) feraiseexcept(own);
        if (round % 20 < 2)
            usleep(100);
        else
            sched_yield();
        wrong += fetestexcept(FE_ALL_EXCEPT) != (round % 2 == 0 ? own : 0);
    }
    return (void*)wrong;
}

void floats_of_threads(void) {
    // Each of these may raise the last one, too.
    static int s_flags[] = {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW | FE_INEXACT,
                            FE_UNDERFLOW | FE_INEXACT};
    enum { k_threads = sizeof s_flags / sizeof s_flags[0] };
    fesetround(FE_UPWARD);
    feraiseexcept(FE_INVALID);
    feenableexcept(FE_DIVBYZERO); // of the first threads only, though the run time begins with it
    in_thread(&show_environment, NULL);
    fesetenv(FE_DFL_ENV);
    in_thread(&show_environment, NULL);
    pthread_t all[k_threads];
    for (int k = 0; k != k_threads; ++k)
        pthread_create(&all[k], NULL, &raise_own_flags, &s_flags[k]);
    for (int k = 0; k != k_threads; ++k) {
        void* wrong;
        pthread_join(all[k], &wrong);
        SHOW((long)wrong);
    }
}
