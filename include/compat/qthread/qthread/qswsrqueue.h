/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring between one thread that enqueues and one that dequeues (single writer, single reader).
 * Contexts: any OS thread.
 * Memory ordering: what happens before an enqueue happens before the return of the dequeue that
 * takes its element. */
#ifndef QTHREAD_QSWSRQUEUE_H
#define QTHREAD_QSWSRQUEUE_H

#include "macros.h"

#include <stddef.h>

Q_STARTCXX

typedef struct qswsrqueue_s qswsrqueue_t;

/* Room for at least `elements`. NULL: more than 2^32 - 1, or no memory. */
qswsrqueue_t* qswsrqueue_create(size_t elements);

/* Forgets the elements that are left. Nobody may use the queue meanwhile. QTHREAD_BADARGS: NULL. */
int qswsrqueue_destroy(qswsrqueue_t* q);

/* QTHREAD_OPFAIL: full; QTHREAD_BADARGS: a null queue or element. */
int qswsrqueue_enqueue(qswsrqueue_t* q, void* elem);

/* Waits for room. QTHREAD_BADARGS: as above. */
int qswsrqueue_enqueue_blocking(qswsrqueue_t* q, void* elem);

/* NULL: empty, or no queue. */
void* qswsrqueue_dequeue(qswsrqueue_t* q);

/* Waits for an element. */
void* qswsrqueue_dequeue_blocking(qswsrqueue_t* q);

/* 1: empty, 0: not; for threads that neither enqueue nor dequeue a hint. QTHREAD_BADARGS: NULL. */
int qswsrqueue_empty(qswsrqueue_t* q);

Q_ENDCXX

#endif
