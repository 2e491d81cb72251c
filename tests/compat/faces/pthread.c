/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "faces.h"

#include <pthread.h>

static pthread_t threads[THREADS_OF_EACH];

static void* run(void* number) {
    take_part(&face_pthread, (int)(intptr_t)number);
    return NULL;
}
static void start(int number) {
    CHECK(pthread_create(&threads[number], NULL, run, (void*)(intptr_t)number) == 0);
}
static void join(int number) { CHECK(pthread_join(threads[number], NULL) == 0); }

struct face const face_pthread = {"pthread",       start,       join,         native_read_fe,
                                  native_write_ef, native_lock, native_unlock};
