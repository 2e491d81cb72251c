/* SPDX-License-Identifier: Apache-2.0 */
/* Memory by which processes of a test tell each other where they are, and which the library under
 * test knows nothing of: it is none of coherent memory, and orders nothing there. All processes
 * run on one kernel, whatever hosts they belong to. Source files define _GNU_SOURCE. */
#ifndef TULLE_TESTS_BOARD_H
#define TULLE_TESTS_BOARD_H

#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Zeros. Where it is, as a number that other processes can be given. */
static inline long make_board(size_t size) {
    int const file = memfd_create("board", 0);
    CHECK(file >= 0 && ftruncate(file, (off_t)size) == 0);
    return (long)getpid() << 20 | file;
}
static inline void* map_board(long made, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%ld/fd/%ld", made >> 20, made & ((1 << 20) - 1));
    int const file = open(name, O_RDWR);
    CHECK(file >= 0);
    void* const found = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(found != MAP_FAILED);
    close(file);
    return found;
}

#endif
