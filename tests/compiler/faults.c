/* SPDX-License-Identifier: Apache-2.0 */
/* For any compiler: places with protected pages, one of which does what nobody may. Argument: what:
 * "below" the memory it stores where nothing is, "first" it does so just ahead of what it has
 * allocated, "jump" it calls what lies there. */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <tulle.h>
#include <tulle/c/coherent_memory.h>
#include <tulle/coherent_abi.h>

int main(int argc, char** argv) {
    void* memory = NULL;
    CHECK(argc == 2 && tulle_place_count() == 2);
    CHECK(tulle_coherent_begin() == 0);
    CHECK(tulle_coherent_malloc(&memory, 4096) == 0);
    tulle_coherent_share();
    *(volatile char*)memory = 1;
    fprintf(stderr, "before the fault\n");
    if (strcmp(argv[1], "below") == 0) *(volatile char*)(TULLE_COHERENT_HEAP - 65536) = 1;
    if (strcmp(argv[1], "first") == 0) *(volatile char*)(TULLE_COHERENT_HEAP - 1) = 1;
    if (strcmp(argv[1], "jump") == 0) ((void (*)(void))(uintptr_t)memory)();
    return 0;
}
