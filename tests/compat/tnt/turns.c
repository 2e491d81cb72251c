/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a node with a mutex that another one wants are as many as the settings say. Two nodes
 * with one worker each. Argument: the number of turns; without it nothing happens. */
#define _GNU_SOURCE
#include "turns.h"

#include <stddef.h>
#include <stdio.h>

#include <tnt.h>

enum { CONTEND = 0, OTHER = 1 }; /* nodes */

static tnt_mutex_t mutex; /* at each node the same */
static int others_unlock;

static void lock(void) { CHECK(tnt_mutex_lock(&mutex) == 0); }
static void unlock(void) { CHECK(tnt_mutex_unlock(&mutex) == 0); }
static void yield(void) { tnt_yield(); }
static struct turns_calls const calls = {lock, unlock, yield};

static void at(int node, void* (*body)(void*), void* argument) {
    tnt_t one;
    CHECK(tnt_create_at(&one, node, body, argument) == 0 && tnt_join(one, NULL) == 0);
}

static void* contend_as(void* me) {
    contend((int)(size_t)me, &calls, others_unlock);
    return NULL;
}
static void* watch_contenders(void* nothing) {
    while (!board->has_ended) {
        for (int k = 0; k < 2; ++k) note_sleep(k);
        yield();
    }
    return nothing;
}
static void* want_it(void* nothing) {
    want(&calls);
    return nothing;
}
static void* unlock_it(void* nothing) {
    unlock_for_others(&calls);
    return nothing;
}
/* The manager has asked the node of those that contend by then. */
static void* do_nothing(void* nothing) { return nothing; }
static void* await_messages(void* nothing) {
    at(CONTEND, do_nothing, nothing);
    return nothing;
}
static void* watch_request(void* manager) {
    while (!board->wants) yield();
    at((int)(size_t)manager, await_messages, NULL);
    at(CONTEND, do_nothing, NULL);
    board->is_wanted = 1;
    return NULL;
}

static void* set_mutex(void* number) {
    mutex = (tnt_mutex_t)(size_t)number;
    lock(); /* the node knows it from now on */
    unlock();
    return NULL;
}
static void* set_board(void* made) {
    board = map_board((long)(size_t)made, sizeof *board);
    return NULL;
}
static void* set_who_unlocks(void* others) {
    others_unlock = (int)(size_t)others;
    return NULL;
}
static void* make_mutex(void* nothing) {
    tnt_mutex_t made;
    CHECK(tnt_mutex_init(&made) == 0);
    (void)nothing;
    return (void*)(size_t)made;
}

static int turns_of(int manager, int others) {
    tnt_t all[6];
    void* made = NULL;
    CHECK(tnt_create_at(&all[0], manager, make_mutex, NULL) == 0 && tnt_join(all[0], &made) == 0);
    long const new_board = make_board(sizeof *board);
    for (int node = 0; node < 2; ++node) {
        at(node, set_mutex, made);
        at(node, set_board, (void*)new_board);
        at(node, set_who_unlocks, (void*)(size_t)others);
    }
    int count = 0;
    CHECK(tnt_create_at(&all[count++], CONTEND, watch_contenders, NULL) == 0);
    for (size_t k = 0; k < 2; ++k)
        CHECK(tnt_create_at(&all[count++], CONTEND, contend_as, (void*)k) == 0);
    CHECK(tnt_create_at(&all[count++], OTHER, want_it, NULL) == 0);
    CHECK(tnt_create_at(&all[count++], OTHER, watch_request, (void*)(size_t)manager) == 0);
    if (others) CHECK(tnt_create_at(&all[count++], OTHER, unlock_it, NULL) == 0);
    for (int k = 0; k < count; ++k) CHECK(tnt_join(all[k], NULL) == 0);
    CHECK(tnt_mutex_destroy(&mutex) == 0);
    return board->turns;
}

int main(int argc, char** argv) {
    if (argc < 2) return 0;
    int const expected = atoi(argv[1]);
    CHECK(tnt_nodes() == 2);
    for (int manager = 0; manager < 2; ++manager)
        for (int others = 0; others < 2; ++others) {
            int const turns = turns_of(manager, others);
            if (turns == expected) continue;
            fprintf(stderr, "manager %d, unlocked by %s: %d turns instead of %d\n", manager,
                    others ? "others" : "its holder", turns, expected);
            return 1;
        }
    return 0;
}
