/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "faces.h"

#include <qthread.h>

static aligned_t results[THREADS_OF_EACH];

static aligned_t run(void* number) {
    CHECK(qthread_id() != QTHREAD_NON_TASK_ID);
    take_part(&face_qthread, (int)(intptr_t)number);
    return 1;
}
static void start(int number) {
    CHECK(qthread_fork(run, (void*)(intptr_t)number, &results[number]) == QTHREAD_SUCCESS);
}
static void join(int number) {
    aligned_t found = 0;
    CHECK(qthread_readFF(&found, &results[number]) == QTHREAD_SUCCESS && found == 1);
}
static uint64_t read_fe(uint64_t* word) {
    aligned_t value = 0;
    CHECK(qthread_readFE(&value, (aligned_t*)word) == QTHREAD_SUCCESS);
    return value;
}
static void write_ef(uint64_t* word, uint64_t value) {
    aligned_t const written = value;
    CHECK(qthread_writeEF((aligned_t*)word, &written) == QTHREAD_SUCCESS);
}
static void lock(uint64_t* address) { CHECK(qthread_lock((aligned_t*)address) == QTHREAD_SUCCESS); }
static void unlock(uint64_t* address) {
    CHECK(qthread_unlock((aligned_t*)address) == QTHREAD_SUCCESS);
}

struct face const face_qthread = {"qthread", start, join, read_fe, write_ef, lock, unlock};
