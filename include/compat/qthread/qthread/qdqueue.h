/* SPDX-License-Identifier: Apache-2.0
 *
 * A queue in parts, one for each shepherd. A thread that takes an element gets one of its own
 * shepherd if there is one, and of the nearest shepherd otherwise. Elements of one shepherd come
 * first in, first out. Contexts: any OS thread; one that is no worker counts as shepherd 0.
 * Memory ordering: as qlfqueue.h. */
#ifndef QTHREAD_QDQUEUE_H
#define QTHREAD_QDQUEUE_H

#include "macros.h"
#include "qthread.h"

Q_STARTCXX

typedef struct qdqueue_s qdqueue_t;

/* NULL: no memory, or the library is not initialised. */
qdqueue_t* qdqueue_create(void);

/* Forgets the elements that are left. Nobody may use the queue meanwhile. QTHREAD_BADARGS: NULL. */
int qdqueue_destroy(qdqueue_t* q);

/* To the part of the caller's shepherd. QTHREAD_BADARGS: a null queue or element;
 * QTHREAD_MALLOC_ERROR. */
int qdqueue_enqueue(qdqueue_t* q, void* elem);

/* To the part of shepherd `there`. QTHREAD_BADARGS: also no such shepherd. */
int qdqueue_enqueue_there(qdqueue_t* q, void* elem, qthread_shepherd_id_t there);

/* NULL: at some moment during the call all parts were empty; or no queue. */
void* qdqueue_dequeue(qdqueue_t* q);

/* 1: at some moment during the call all parts were empty, 0: not, or no queue. */
int qdqueue_empty(qdqueue_t* q);

Q_ENDCXX

#endif
