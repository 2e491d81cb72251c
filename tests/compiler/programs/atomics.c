// SPDX-License-Identifier: Apache-2.0
// Atomic and volatile accesses are the run time's where the state is not plain: the recorder does
// them and counts.
#include "recorder.h"

#define NOINLINE __attribute__((noinline))
#define ORDER __ATOMIC_SEQ_CST

NOINLINE static long add(long* a) { return __atomic_fetch_add(a, 5, ORDER); }
NOINLINE static long sub(long* a) { return __atomic_fetch_sub(a, 1, ORDER); }
NOINLINE static int and_or(int* a) {
    __atomic_fetch_or(a, 12, ORDER);
    return __atomic_fetch_and(a, 6, ORDER);
}
NOINLINE static short exchange(short* a) { return __atomic_exchange_n(a, 3, ORDER); }
NOINLINE static char flip(char* a) { return __atomic_fetch_xor(a, 1, ORDER); }
NOINLINE static int compare(long* a, long expected) {
    return __atomic_compare_exchange_n(a, &expected, 40, 0, ORDER, ORDER);
}
NOINLINE static double load_double(double* a) {
    double v;
    __atomic_load(a, &v, __ATOMIC_ACQUIRE);
    return v;
}
NOINLINE static void* load_pointer(void** a) { return __atomic_load_n(a, __ATOMIC_ACQUIRE); }
NOINLINE static void store(long* a, long v) { __atomic_store_n(a, v, __ATOMIC_RELEASE); }
NOINLINE static long load_volatile(long volatile* a) { return *a; }
NOINLINE static void store_volatile(long volatile* a) { *a = 6; }
// By pointers that have just been loaded, and what stands for them may be another value then.
NOINLINE static long add_there(long** at) { return __atomic_fetch_add(*at, 1, ORDER); }
NOINLINE static long load_there(long** at) {
    return __atomic_load_n(__atomic_load_n(at, ORDER), ORDER);
}
NOINLINE static void store_there(long volatile* volatile* at) { **at = 8; }
NOINLINE static long plain_after_atomic(long* flag, long* data) {
    long const before = data[0];
    if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) return -1;
    return before + data[0];
}

// Changes that the run time does not know: each is a load and a comparison there.
NOINLINE static int least(int* a, int v) { return __atomic_fetch_min(a, v, ORDER); }
NOINLINE static int greatest(int* a, int v) { return __atomic_fetch_max(a, v, ORDER); }
NOINLINE static unsigned least_of(unsigned* a, unsigned v) {
    return __atomic_fetch_min(a, v, ORDER);
}
NOINLINE static unsigned greatest_of(unsigned* a, unsigned v) {
    return __atomic_fetch_max(a, v, ORDER);
}
NOINLINE static long nand(long* a, long v) { return __atomic_fetch_nand(a, v, ORDER); }

#define REQUIRE_CHANGE(change, a, before, v, after)                                                \
    do {                                                                                           \
        *(a) = (before);                                                                           \
        synchronise();                                                                             \
        unsigned long const others = checks_of(atomics);                                           \
        REQUIRE(change((a), (v)) == (before) && checks_of(atomics) == others + 2);                 \
        REQUIRE(*(a) == (after));                                                                  \
    } while (0)

__attribute__((always_inline)) static inline void test_changes(char* m) {
    int* const number = (int*)(void*)m;
    unsigned* const count = (unsigned*)(void*)(m + 64);
    long* const bits = (long*)(void*)(m + 128);
    REQUIRE_CHANGE(least, number, 2, -1, -1);
    REQUIRE_CHANGE(least, number, -1, 2, -1);
    REQUIRE_CHANGE(greatest, number, 2, -1, 2);
    REQUIRE_CHANGE(greatest, number, -1, 2, 2);
    REQUIRE_CHANGE(least_of, count, 2, ~0U, 2);
    REQUIRE_CHANGE(least_of, count, ~0U, 2, 2);
    REQUIRE_CHANGE(greatest_of, count, 2, ~0U, ~0U);
    REQUIRE_CHANGE(greatest_of, count, ~0U, 2, ~0U);
    REQUIRE_CHANGE(nand, bits, 6, 3, ~2L);
}

int main(void) {
    char* m = coherent_memory(512);
    long* a = (long*)(void*)m;
    REQUIRE(add(a) == 0);
    REQUIRE(sub(a) == 5);
    REQUIRE(compare(a, 4) == 1);
    REQUIRE(compare(a, 4) == 0);
    REQUIRE(and_or((int*)(void*)(m + 64)) == 12);
    REQUIRE(exchange((short*)(void*)(m + 128)) == 0 && exchange((short*)(void*)(m + 128)) == 3);
    REQUIRE(flip(m + 130) == 0 && flip(m + 130) == 1);
    REQUIRE(load_double((double*)(void*)(m + 192)) == 0);
    REQUIRE(load_pointer((void**)(void*)(m + 192)) == 0);
    store(a, 9);
    REQUIRE(load_volatile(a) == 9);
    store_volatile(a);
    REQUIRE(add(a) == 6);
    REQUIRE(checks_of(atomics) == 16);
    long** const there = (long**)(void*)(m + 448);
    *there = a;
    synchronise();
    REQUIRE(add_there(there) == 11 && *a == 12);
    synchronise();
    REQUIRE(load_there(there) == 12);
    store_there((long volatile**)there);
    REQUIRE(add(a) == 8);
    REQUIRE(checks_of(atomics) == 22);
    REQUIRE(plain_after_atomic(a, a + 32) == 0);
    test_changes(coherent_memory(192));
    return 0;
}
