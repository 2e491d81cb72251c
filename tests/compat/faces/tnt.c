/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "faces.h"

#include <tnt.h>

static tnt_t threads[THREADS_OF_EACH];

static void* run(void* number) {
    CHECK(tnt_self() != 0);
    take_part(&face_tnt, (int)(intptr_t)number);
    return NULL;
}
static void start(int number) {
    CHECK(tnt_create(&threads[number], run, (void*)(intptr_t)number) == 0);
}
static void join(int number) { CHECK(tnt_join(threads[number], NULL) == 0); }

struct face const face_tnt = {"tnt",           start,       join,         native_read_fe,
                              native_write_ef, native_lock, native_unlock};
