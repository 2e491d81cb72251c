/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of all faces meet at one full/empty word, at one mutex of each kind and at one barrier of
 * each kind. What a lost wake-up, or a mutex that does not exclude, does to the counts is found. */
#include "check.h"

#include "faces.h"

#include <qthread.h>
#include <tnt.h>
#include <tulle.h>

#include <errno.h>

enum { ROUNDS = 200, MEETINGS = 50 };

static struct face const* const faces[] = {&face_native, &face_pthread, &face_qthread, &face_tnt,
                                           &face_myth};
enum { FACES = sizeof faces / sizeof faces[0], ALL = FACES * THREADS_OF_EACH };

static uint64_t word __attribute__((aligned(8)));   /* full/empty */
static uint64_t locked __attribute__((aligned(8))); /* its address is a mutex */
static tulle_mutex_t mutex = TULLE_MUTEX_INIT;
static tnt_mutex_t managed = TNT_MUTEX_INITIALIZER;
static tulle_barrier_t barrier;
static tnt_barrier_t managed_barrier;
static long counts[3]; /* under each of the mutexes */
static int met[ALL];
static int serial_ones;

static int index_of(struct face const* face, int number) {
    for (int k = 0; k < FACES; ++k)
        if (faces[k] == face) return k * THREADS_OF_EACH + number;
    return -1;
}

static void hand_on(struct face const* face) {
    for (int k = 0; k < ROUNDS; ++k) face->write_ef(&word, face->read_fe(&word) + 1);
}

static void count(struct face const* face) {
    for (int k = 0; k < ROUNDS; ++k) {
        face->lock(&locked);
        ++counts[0];
        face->unlock(&locked);
        CHECK(tulle_mutex_lock(&mutex) == 0);
        ++counts[1];
        CHECK(tulle_mutex_unlock(&mutex) == 0);
        CHECK(tnt_mutex_lock(&managed) == 0);
        ++counts[2];
        CHECK(tnt_mutex_unlock(&managed) == 0);
    }
}

static void meet(int me) {
    for (int k = 1; k <= MEETINGS; ++k) {
        met[me] = k;
        CHECK(tulle_barrier_wait(&barrier) >= 0);
        for (int i = 0; i < ALL; ++i) CHECK(met[i] == k);
        int const found = tnt_barrier_wait(&managed_barrier);
        CHECK(found == 0 || found == TNT_BARRIER_SERIAL_THREAD);
        if (found != 0) __atomic_fetch_add(&serial_ones, 1, __ATOMIC_RELAXED);
    }
}

void take_part(struct face const* face, int number) {
    int const me = index_of(face, number);
    CHECK(me >= 0);
    meet(me);
    hand_on(face);
    count(face);
    meet(me);
}

int main(void) {
    CHECK(qthread_initialize() == QTHREAD_SUCCESS);
    CHECK(tnt_init(0) == EALREADY);
    CHECK(tulle_barrier_init(&barrier, ALL) == 0);
    CHECK(tnt_barrier_init(&managed_barrier, ALL) == 0);
    for (int k = 0; k < FACES; ++k)
        for (int i = 0; i < THREADS_OF_EACH; ++i) faces[k]->start(i);
    for (int k = 0; k < FACES; ++k)
        for (int i = 0; i < THREADS_OF_EACH; ++i) faces[k]->join(i);
    CHECK(word == (uint64_t)ALL * ROUNDS);
    for (int k = 0; k < 3; ++k) CHECK(counts[k] == (long)ALL * ROUNDS);
    CHECK(serial_ones == 2 * MEETINGS);
    CHECK(tnt_mutex_destroy(&managed) == 0 && tnt_barrier_destroy(&managed_barrier) == 0);
    CHECK(tulle_barrier_destroy(&barrier) == 0);
    qthread_finalize();
    return 0;
}
