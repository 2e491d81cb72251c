// SPDX-License-Identifier: Apache-2.0
// A check holds until the next call that may synchronise: by name, by pointer, inside another
// function, in a loop; not until one that does not.
#include "recorder.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static void (*volatile s_by_pointer)(void) = synchronise;
static jmp_buf s_place;

NOINLINE static void inside(void) { synchronise(); }
NOINLINE static double quiet(double x) { return sqrt(x) + abs((int)x); }
NOINLINE static void leave(void) { longjmp(s_place, 1); }

NOINLINE static long by_name(long* a) {
    long const before = a[0];
    synchronise();
    return before + a[0];
}
NOINLINE static void in_another_function(long* a) {
    a[0] = 1;
    inside();
    a[0] += 2;
}
NOINLINE static void through_pointer(long* a) {
    a[0] = 1;
    s_by_pointer();
    a[0] += 3;
}
NOINLINE static void in_loop(long* a, int turns) {
    for (int i = 0; i < turns; ++i) {
        a[i * 8] = i;
        synchronise();
    }
}
NOINLINE static void on_one_way(long* a, int way) {
    a[0] = 1;
    if (way) synchronise();
    a[0] += 4;
}
NOINLINE static double beside_quiet_calls(double* a) {
    double const before = a[0];
    return before + quiet(before) + a[0];
}
static int synchronising_order(void const* x, void const* y) {
    synchronise();
    return (x > y) - (x < y);
}
NOINLINE static long over_a_sort(long* a) {
    int own[] = {2, 1};
    long const before = a[0];
    qsort(own, 2, sizeof *own, synchronising_order);
    return before + a[0] + own[0];
}
NOINLINE static long over_a_jump(long* a) {
    a[0] = 5;
    if (setjmp(s_place) == 0) {
        synchronise();
        leave();
    }
    return a[0];
}

int main(void) {
    long* a = coherent_memory(1024);
    by_name(a);
    in_another_function(a);
    REQUIRE(a[0] == 3);
    synchronise();
    through_pointer(a);
    REQUIRE(a[0] == 4);
    in_loop(a, 10);
    on_one_way(a, 1);
    synchronise();
    on_one_way(a, 0);
    REQUIRE(a[0] == 5);
    synchronise();
    REQUIRE(over_a_sort(a) >= 11);
    synchronise();
    REQUIRE(over_a_jump(a) == 5);
    synchronise();
    REQUIRE(beside_quiet_calls((double*)(void*)(a + 100)) == 0);
    return 0;
}
