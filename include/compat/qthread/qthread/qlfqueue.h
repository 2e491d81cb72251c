/* SPDX-License-Identifier: Apache-2.0
 *
 * A queue that any number of threads put into and take from at once: first in, first out, without
 * locks, of any length.
 * Contexts: any OS thread, before qthread_initialize() and after qthread_finalize(), too.
 * Linearizable.
 * Memory ordering: what happens before an enqueue happens before the return of the dequeue that
 * takes its element. */
#ifndef QTHREAD_QLFQUEUE_H
#define QTHREAD_QLFQUEUE_H

#include "macros.h"

Q_STARTCXX

typedef struct qlfqueue_s qlfqueue_t;

/* NULL: no memory. */
qlfqueue_t* qlfqueue_create(void);

/* Forgets the elements that are left. Nobody may use the queue meanwhile. QTHREAD_BADARGS: NULL. */
int qlfqueue_destroy(qlfqueue_t* q);

/* QTHREAD_BADARGS: a null queue or element; QTHREAD_MALLOC_ERROR. */
int qlfqueue_enqueue(qlfqueue_t* q, void* elem);

/* NULL: empty, or no queue. */
void* qlfqueue_dequeue(qlfqueue_t* q);

/* 1: empty, 0: not; a snapshot. QTHREAD_BADARGS: NULL. */
int qlfqueue_empty(qlfqueue_t* q);

Q_ENDCXX

#endif
