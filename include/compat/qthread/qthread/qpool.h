/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of pieces of memory of one size, for many threads at once. Contexts: any OS thread, before
 * qthread_initialize(), too. */
#ifndef QPOOL_H
#define QPOOL_H

#include "macros.h"

#include <stddef.h>

Q_STARTCXX

typedef struct qt_mpool_s qpool;

/* A piece that is not in use, with whatever its last user left in it. NULL: no memory, or no pool.
 */
void* qpool_alloc(qpool* pool);

/* Gives a piece back. Null: nothing. */
void qpool_free(qpool* pool, void* mem);

/* Pieces of at least `item_size` bytes, aligned like malloc's. NULL: no memory. */
qpool* qpool_create(size_t const item_size);
/* The same, aligned to `alignment` bytes, a power of two; 0: like malloc's. NULL: also no power of
 * two. */
qpool* qpool_create_aligned(size_t const item_size, size_t const alignment);

/* Frees all pieces, in use or not. */
void qpool_destroy(qpool* pool);

Q_ENDCXX

#endif
