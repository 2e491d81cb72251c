/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "faces.h"

#include <myth/myth.h>

static myth_thread_t threads[THREADS_OF_EACH];

static void* run(void* number) {
    CHECK(myth_self() != NULL);
    take_part(&face_myth, (int)(intptr_t)number);
    return number;
}
static void start(int number) {
    threads[number] = myth_create(run, (void*)(intptr_t)number);
    CHECK(threads[number] != NULL);
}
static void join(int number) {
    void* result = NULL;
    CHECK(myth_join(threads[number], &result) == 0 && result == (void*)(intptr_t)number);
}

struct face const face_myth = {"myth",          start,       join,         native_read_fe,
                               native_write_ef, native_lock, native_unlock};
