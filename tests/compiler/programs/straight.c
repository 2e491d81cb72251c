// SPDX-License-Identifier: Apache-2.0
// Loads and stores of each size, alone and beside others by the same pointer.
#include "recorder.h"

struct mixed {
    char c;
    short s;
    int i;
    long l;
    double d;
    char far[200];
};

__attribute__((noinline)) static long load_all(struct mixed const* m) {
    return m->c + m->s + m->i + m->l + (long)m->d;
}
__attribute__((noinline)) static void store_all(struct mixed* m, int base) {
    m->c = (char)base;
    m->s = (short)(base + 1);
    m->i = base + 2;
    m->l = base + 3;
    m->d = base + 4;
}
__attribute__((noinline)) static void change(struct mixed* m) { m->l += m->far[150]; }
__attribute__((noinline)) static int load_far(struct mixed const* m) { return m->far[150]; }
__attribute__((noinline)) static void store_far(struct mixed* m) { m->far[199] = 7; }
__attribute__((noinline)) static long on_one_way(struct mixed* m, int way) {
    if (way) m->l = 5;
    return m->l;
}

int main(void) {
    struct mixed* m = coherent_memory(sizeof *m);
    store_all(m, 1);
    REQUIRE(load_all(m) == 1 + 2 + 3 + 4 + 5);
    synchronise();
    REQUIRE(load_all(m) == 15);
    synchronise();
    change(m);
    REQUIRE(m->l == 4);
    synchronise();
    REQUIRE(load_far(m) == 0);
    synchronise();
    store_far(m);
    REQUIRE(m->far[199] == 7);
    synchronise();
    REQUIRE(on_one_way(m, 0) == 4);
    synchronise();
    REQUIRE(on_one_way(m, 1) == 5);
    return 0;
}
