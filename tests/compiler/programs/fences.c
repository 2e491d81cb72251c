// SPDX-License-Identifier: Apache-2.0
// What orders accesses, or comes back later, and is no function: what was checked before must be
// checked again.
#include "recorder.h"

#include <emmintrin.h>

#define NOINLINE __attribute__((noinline))

#ifdef BY_DIRECTORY
enum { k_counts = 0 }; // by which a fence is none of the run time's business
#else
enum { k_counts = 1 };
#endif

enum { k_other_line = 8 };

static void* s_back[5];

NOINLINE static long around_a_full_fence(long const* p) {
    long const before = *p;
    _mm_mfence();
    return before + *p;
}
NOINLINE static long around_a_fence_of_loads(long const* p) {
    long const before = *p;
    _mm_lfence();
    return before + *p;
}
NOINLINE static void around_a_fence_of_stores(long* p) {
    p[0] = 1;
    _mm_sfence();
    p[k_other_line] = 2;
}

NOINLINE static void go_back(void) {
    synchronise();
    __builtin_longjmp(s_back, 1);
}
NOINLINE static void around_a_return(long* p) {
    *p = 3;
    if (__builtin_setjmp(s_back) == 0) go_back();
    *p = 4;
}

int main(void) {
    long* const p = coherent_memory((k_other_line + 1) * sizeof(long));
    synchronise();
    around_a_fence_of_stores(p);
    REQUIRE(!k_counts || checks_of(releases) == 1);
    synchronise();
    unsigned long before = checks_of(loads);
    REQUIRE(around_a_full_fence(p) == 2);
    REQUIRE(!k_counts || (checks_of(releases) == 2 && checks_of(loads) == before + 2));
    synchronise();
    before = checks_of(loads);
    REQUIRE(around_a_fence_of_loads(p) == 2);
    REQUIRE(!k_counts || (checks_of(releases) == 2 && checks_of(loads) == before + 2));
    synchronise();
    around_a_return(p);
    REQUIRE(*p == 4);
    return 0;
}
