// SPDX-License-Identifier: Apache-2.0
// Copies and fills of blocks: by the library's names and by assignment; also of no bytes, and with
// one side outside of coherent memory.
#include "recorder.h"

#include <string.h>

struct large {
    char bytes[300];
};

#define NOINLINE __attribute__((noinline))

NOINLINE static void copy(void* to, void const* from, size_t n) { memcpy(to, from, n); }
NOINLINE static void move(void* to, void const* from, size_t n) { memmove(to, from, n); }
NOINLINE static void fill(void* to, int byte, size_t n) { memset(to, byte, n); }
NOINLINE static void assign(struct large* to, struct large const* from) { *to = *from; }
NOINLINE static int by_value(struct large l) { return l.bytes[299]; }
NOINLINE static void small(char* to, char const* from) { memcpy(to, from, 16); }

int main(void) {
    char* a = coherent_memory(1000);
    char* b = coherent_memory(1000);
    char outside[1000] = "outside";
    fill(a, 5, 900);
    synchronise();
    copy(b + 10, a + 100, 700);
    synchronise();
    REQUIRE(b[10] == 5 && b[709] == 5);
    synchronise();
    move(a + 1, b + 10, 500);
    synchronise();
    copy(outside, a, 900);
    REQUIRE(outside[1] == 5);
    synchronise();
    copy(a, outside, 64);
    synchronise();
    assign((struct large*)(void*)a, (struct large*)(void*)b);
    synchronise();
    REQUIRE(by_value(*(struct large*)(void*)a) == 5);
    synchronise();
    small(a + 120, b + 58);
    synchronise();
    REQUIRE(a[120] == 5 && a[135] == 5);
    copy(a, outside, 0);
    fill(a, 1, 0);
    return 0;
}
