// SPDX-License-Identifier: Apache-2.0
// Strings that functions of the C library load and store.
#define _GNU_SOURCE
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static char out[1000];

NOINLINE static void put(char* at, char const* text) { memcpy(at, text, strlen(text) + 1); }
NOINLINE static size_t length(char const* s) { return strlen(s); }
NOINLINE static size_t at_most(char const* s, size_t n) { return strnlen(s, n); }
NOINLINE static int order(char const* a, char const* b) { return strcmp(a, b); }
NOINLINE static int begin(char const* a, char const* b, size_t n) { return strncmp(a, b, n); }
NOINLINE static char* find(char const* s, int c) { return strchr(s, c); }
NOINLINE static char* inside(char const* s, char const* part) { return strstr(s, part); }
NOINLINE static void* byte(void const* s, int c, size_t n) { return memchr(s, c, n); }
NOINLINE static void* somewhere(void const* s, int c) { return rawmemchr(s, c); }
NOINLINE static void* until(void* to, void const* from, int c, size_t n) {
    return memccpy(to, from, c, n);
}
NOINLINE static int number(char const* s) { return atoi(s); }
NOINLINE static char* copy(char* to, char const* from) { return strcpy(to, from); }
NOINLINE static char* part(char* to, char const* from, size_t n) { return strncpy(to, from, n); }
NOINLINE static char* add(char* to, char const* from) { return strcat(to, from); }
NOINLINE static char* copy_at_last(char* to, char const* from) {
    __attribute__((musttail)) return strcpy(to, from);
}
NOINLINE static void print(char const* s, int n, char const* t) {
    snprintf(out, sizeof out, "%d%% %5s|%.3s|%-*d|%.*s", n, s, s, 4, n, 2, t);
}
NOINLINE static void into(char* to, size_t n, int k) { snprintf(to, n, "<%d>", k); }
NOINLINE static int all_into(char* to, char const* s, int k) {
    return sprintf(to, "%s, %d and %.2s", s, k, s);
}
NOINLINE static int scan(char const* text, int* n, double* d, char* word) {
    return sscanf(text, "%d %lf %*d %7s", n, d, word);
}

static int is(char const* shared, char const* wanted) { // without functions of the library
    for (;; ++shared, ++wanted) {
        if (*shared != *wanted) return 0;
        if (*wanted == 0) return 1;
    }
}

int main(void) {
    char* a = coherent_memory(256);
    char* b = coherent_memory(256);
    int* n = coherent_memory(64);
    double* d = coherent_memory(64);
    char const* long_text =
        "a text that goes on beyond a line, which has sixty-four bytes, and a bit";
    put(a, long_text);
    synchronise();
    out[90] = 'x';
    put(out, a);
    REQUIRE(is(out, long_text) && out[90] == 'x');
    synchronise();
    REQUIRE(length(a) == strlen(long_text));
    synchronise();
    REQUIRE(at_most(a, 70) == 70 && at_most(a, 100) == strlen(long_text));
    put(b, "a text");
    synchronise();
    REQUIRE(order(a, b) > 0);
    synchronise();
    REQUIRE(order(b, a) < 0); // what is not there is greater
    synchronise();
    REQUIRE(begin(a, b, 6) == 0 && begin(b, a, 7) < 0);
    synchronise();
    REQUIRE(find(a, 'b') == a + 20);
    synchronise();
    REQUIRE(inside(a, "bytes") == a + 56 && inside("bb a text", b) != NULL);
    synchronise();
    REQUIRE(byte(a, ',', 100) == a + 33);
    synchronise();
    REQUIRE(byte(a, ',', SIZE_MAX) == a + 33 && byte(a, 'b', (size_t)1 << 40) == a + 20);
    REQUIRE(byte(a, 'b', 20) == NULL && somewhere(a, 'b' + 256) == a + 20);
    synchronise();
    REQUIRE(until(b, a, ',', SIZE_MAX) == b + 34 && until(b + 40, a, 'b', 20) == NULL);
    synchronise();
    REQUIRE(b[33] == ',' && b[34] == 0 && b[59] == a[19] && b[60] == 0);
    synchronise();
    REQUIRE(copy(b, a) == b);
    synchronise();
    REQUIRE(is(b, long_text));
    REQUIRE(copy_at_last(b, a + 7) == b);
    synchronise();
    REQUIRE(is(b, long_text + 7));
    put(b, "word");
    synchronise();
    REQUIRE(add(b, " more") == b);
    synchronise();
    REQUIRE(is(b, "word more"));
    synchronise();
    REQUIRE(part(b + 60, a, 10) == b + 60);
    synchronise();
    REQUIRE(b[60] == 'a' && b[69] == 'a');
    synchronise();
    print(b, 17, b + 5);
    REQUIRE(is(out, "17% word more|wor|17  |mo"));
    synchronise();
    into(a, 64, -5);
    synchronise();
    REQUIRE(is(a, "<-5>"));
    into(a, SIZE_MAX, 6);
    synchronise();
    REQUIRE(is(a, "<6>"));
    into(a + 10, 2, 7);
    synchronise();
    REQUIRE(is(a + 10, "<") && a[12] == 'g');
    put(b, "some words that go on beyond a line, and beyond the next one, as only some words do");
    synchronise();
    REQUIRE(all_into(a, b, 17) == 94);
    synchronise();
    REQUIRE(is(a,
               "some words that go on beyond a line, and beyond the next one, as only some words "
               "do, 17 and so"));
    put(a, "12 0.5 9 words");
    synchronise();
    REQUIRE(scan(a, n, d, b) == 3);
    synchronise();
    REQUIRE(*n == 12 && *d == 0.5 && is(b, "words") && number(a) == 12);
    synchronise();
    return 0;
}
