/* SPDX-License-Identifier: Apache-2.0 */
/* Places (<tulle/place.hpp>) in C: code that is started at another place with two words, signals of
 * another place, transfers of memory. For C11 and C++20; conventions as in <tulle/c/sync.h>. With
 * one place all of this works, too. main() of a C program runs at place 0 alone after its first
 * call of Tulle.
 * What says that it returns at once waits only while more than a thousand messages of this place
 * have found no room yet.
 * -EINVAL: there is no such place; a null pointer; more bytes than PTRDIFF_MAX. -EHOSTDOWN: it has
 * died. -EOPNOTSUPP: it has memory only, and runs no code of the program.
 * Source: the i-lets, signals and push transfers of OctoPOS (Mohr and others, ROSS 2015). */
#ifndef TULLE_DETAIL_PLACE_H
#define TULLE_DETAIL_PLACE_H

#include <tulle/c/sync.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many places the program has that run threads, and the number of the caller's. Both start the
 * run time if need be. */
TULLE_API int tulle_place_count(void);
/* Places that have memory and run nothing (`tulle run --memory-places`); their numbers follow. */
TULLE_API int tulle_memory_place_count(void);
/* See tulle_place_count. */
TULLE_API int tulle_here(void);
/* 1: the caller's place knows that it has died. Otherwise 0; always, unless
 * TULLE_ON_PLACE_DEATH=throw. What is sent to a place that dies then is lost, and so are the calls
 * that should come back. */
TULLE_API int tulle_place_is_dead(int place);

/* Code and two words. `run` null: nothing. Functions are the same at all places; addresses of
 * objects mean something only where these are. */
typedef struct {
    void (*run)(uint64_t a, uint64_t b); /* a function */
    uint64_t a;                          /* the first word */
    uint64_t b;                          /* the second one */
} tulle_ilet_t;

/* Starts it as a thread at that place, in one message; returns at once. -ENOENT: the function is in
 * no program or library. */
TULLE_API int tulle_start_at(int place, tulle_ilet_t ilet);

/* tulle_signal_notify of a signal of that place, in one message; returns at once. An error there
 * ends the program with a message. */
TULLE_API int tulle_signal_notify_at(int place, tulle_signal_t* signal);

/* Copies `size` bytes from here to `to`, an address at that place; returns at once. Then
 * `then_there` runs there and, when `from` may be used again, `then_here` here, each as a thread;
 * either may be null.
 * Memory ordering: `then_there` sees the bytes, and what happened before the call.
 * -ENOMEM. */
TULLE_API int tulle_push(int place, void* to, const void* from, size_t size,
                         const tulle_ilet_t* then_here, const tulle_ilet_t* then_there);

/* Copies `size` bytes from an address at that place to `to`; returns when they are there. The other
 * place has no part in it where the system lets processes of one user read each other's memory;
 * else it sends them. -EFAULT: there is no such memory. */
TULLE_API int tulle_pull(void* to, int place, const void* from, size_t size);

#ifdef __cplusplus
}
#endif

#endif
