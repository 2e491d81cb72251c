// SPDX-License-Identifier: Apache-2.0
// Atomic counters with a limit at their home, where each change is a load and a comparison; and by
// two threads in memory that is no coherent one. Limits and counts have no sign.
#include "recorder.h"

#include <pthread.h>

uint8_t count_up_8(uint8_t* at, uint8_t limit);
uint16_t count_up_16(uint16_t* at, uint16_t limit);
uint32_t count_up_32(uint32_t* at, uint32_t limit);
uint64_t count_up_64(uint64_t* at, uint64_t limit);
uint8_t count_down_8(uint8_t* at, uint8_t limit);
uint16_t count_down_16(uint16_t* at, uint16_t limit);
uint32_t count_down_32(uint32_t* at, uint32_t limit);
uint64_t count_down_64(uint64_t* at, uint64_t limit);

enum { k_changes = 100000, k_limit = 6 };

#define REQUIRE_CHANGE(change, at, before, limit, after)                                           \
    do {                                                                                           \
        *(at) = (before);                                                                          \
        synchronise();                                                                             \
        unsigned long const count = checks_of(atomics);                                            \
        REQUIRE(change((at), (limit)) == (before));                                                \
        REQUIRE(checks_of(atomics) == count + 2);                                                  \
        REQUIRE(*(at) == (after));                                                                 \
    } while (0)
#define REQUIRE_CHANGES(bits, at)                                                                  \
    do {                                                                                           \
        uint##bits##_t const most = (uint##bits##_t) - 1;                                          \
        uint##bits##_t const half = most / 2;                                                      \
        REQUIRE_CHANGE(count_up_##bits, at, 3, 5, 4);                                              \
        REQUIRE_CHANGE(count_up_##bits, at, 5, 5, 0);                                              \
        REQUIRE_CHANGE(count_up_##bits, at, 7, 5, 0);                                              \
        REQUIRE_CHANGE(count_up_##bits, at, 0, 0, 0);                                              \
        REQUIRE_CHANGE(count_up_##bits, at, most, most, 0);                                        \
        REQUIRE_CHANGE(count_up_##bits, at, half - 1, most - 1, half);                             \
        REQUIRE_CHANGE(count_down_##bits, at, 3, 5, 2);                                            \
        REQUIRE_CHANGE(count_down_##bits, at, 5, 5, 4);                                            \
        REQUIRE_CHANGE(count_down_##bits, at, 7, 5, 5);                                            \
        REQUIRE_CHANGE(count_down_##bits, at, 0, 5, 5);                                            \
        REQUIRE_CHANGE(count_down_##bits, at, 0, most, most);                                      \
        REQUIRE_CHANGE(count_down_##bits, at, half, most - 1, half - 1);                           \
        REQUIRE_CHANGE(count_down_##bits, at, most, half, half);                                   \
    } while (0)

struct private {
    uint16_t up;
    uint64_t down;
};
static void* change_all(void* private) {
    struct private* const all = private;
    for (int k = 0; k < k_changes; ++k) {
        count_up_16(&all->up, k_limit);
        count_down_64(&all->down, k_limit);
    }
    return NULL;
}

int main(void) {
    struct private all = {0, 0};
    pthread_t other;
    char* const m = coherent_memory(256);
    REQUIRE_CHANGES(8, (uint8_t*)m);
    REQUIRE_CHANGES(16, (uint16_t*)(void*)(m + 64));
    REQUIRE_CHANGES(32, (uint32_t*)(void*)(m + 128));
    REQUIRE_CHANGES(64, (uint64_t*)(void*)(m + 192));
    REQUIRE(pthread_create(&other, NULL, &change_all, &all) == 0);
    change_all(&all);
    pthread_join(other, NULL);
    REQUIRE(all.up == 2 * k_changes % (k_limit + 1));
    REQUIRE((all.down + 2 * k_changes) % (k_limit + 1) == 0);
    return 0;
}
