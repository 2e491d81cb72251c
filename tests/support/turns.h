/* SPDX-License-Identifier: Apache-2.0 */
/* How many turns processes at one place or host have with a lock while somebody elsewhere waits
 * for it, exactly: whoever holds it unlocks when the other one of its side sleeps, and when its
 * side has heard that the lock is wanted. Each place has one worker, so that a thread which runs
 * finds the other ones of its place asleep. */
#ifndef TULLE_TESTS_TURNS_H
#define TULLE_TESTS_TURNS_H

#include "board.h"

#include <stdatomic.h>

/* Zeros at first. */
struct board {
    atomic_int is_in_lock[2]; /* of the two that contend: it has come to the lock */
    atomic_int sleeps[2];     /* and waits there */
    atomic_int has_begun;
    atomic_int wants;     /* the third one has come to the lock */
    atomic_int is_wanted; /* and those that contend know */
    atomic_int turns;     /* of these, until the third one has it */
    atomic_int has_ended;
    atomic_int is_to_unlock;                  /* by another one than the holder */
    atomic_int registered[2], first_place[2]; /* of sides */
};
static struct board* board;

struct turns_calls {
    void (*lock)(void);
    void (*unlock)(void);
    void (*yield)(void);
};

/* By each of the two that contend. */
static inline void contend(int me, struct turns_calls const* by, int others_unlock) {
    while (me == 1 && !board->has_begun) by->yield();
    for (;;) {
        board->is_in_lock[me] = 1;
        by->lock();
        board->is_in_lock[me] = 0;
        board->sleeps[me] = 0;
        if (board->has_ended) break;
        ++board->turns;
        board->has_begun = 1;
        while (!board->sleeps[1 - me] || !board->is_wanted) by->yield();
        if (others_unlock) {
            board->is_to_unlock = 1;
            while (board->is_to_unlock) by->yield();
        } else
            by->unlock();
    }
    by->unlock();
}
/* By another thread of a place of such a one. */
static inline void note_sleep(int me) {
    if (board->is_in_lock[me]) board->sleeps[me] = 1;
}
static inline void want(struct turns_calls const* by) {
    while (!board->sleeps[1]) by->yield();
    board->wants = 1;
    by->lock();
    board->has_ended = 1;
    by->unlock();
}
static inline void unlock_for_others(struct turns_calls const* by) {
    while (!board->has_ended) {
        if (board->is_to_unlock) {
            by->unlock();
            board->is_to_unlock = 0;
        }
        by->yield();
    }
}

#endif
