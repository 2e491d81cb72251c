/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "faces.h"

#include <tulle.h>

uint64_t native_read_fe(uint64_t* word) {
    uint64_t value = 0;
    CHECK(tulle_feb_read_fe(&value, word, sizeof *word) == 0);
    return value;
}
void native_write_ef(uint64_t* word, uint64_t value) {
    CHECK(tulle_feb_write_ef(word, &value, sizeof *word) == 0);
}
void native_lock(uint64_t* address) { CHECK(tulle_address_lock(address) == 0); }
void native_unlock(uint64_t* address) { CHECK(tulle_address_unlock(address) == 0); }

static tulle_thread* threads[THREADS_OF_EACH];

static void* run(void* number) {
    take_part(&face_native, (int)(intptr_t)number);
    return NULL;
}
static void start(int number) {
    CHECK(tulle_spawn(&threads[number], NULL, run, (void*)(intptr_t)number) == 0);
}
static void join(int number) { CHECK(tulle_thread_join(threads[number], NULL) == 0); }

struct face const face_native = {"native",        start,       join,         native_read_fe,
                                 native_write_ef, native_lock, native_unlock};
