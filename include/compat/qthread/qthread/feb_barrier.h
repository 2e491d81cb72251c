/* SPDX-License-Identifier: Apache-2.0 */
/* The older name of a barrier. */
#ifndef QTHREAD_FEB_BARRIER_H
#define QTHREAD_FEB_BARRIER_H

#include "macros.h"
#include "qthread.h"

Q_STARTCXX

typedef struct qt_feb_barrier_s qt_feb_barrier_t;

qt_feb_barrier_t* qt_feb_barrier_create(size_t max_threads);
void qt_feb_barrier_enter(qt_feb_barrier_t* b);
void qt_feb_barrier_resize(qt_feb_barrier_t* b, size_t new_size);
void qt_feb_barrier_destroy(qt_feb_barrier_t* b);

#define qthread_feb_barrier_create(max_threads) qt_feb_barrier_create(max_threads)
#define qthread_feb_barrier_enter(b) qt_feb_barrier_enter(b)
#define qthread_feb_barrier_resize(b, new_size) qt_feb_barrier_resize((b), (new_size))
#define qthread_feb_barrier_destroy(b) qt_feb_barrier_destroy(b)

Q_ENDCXX

#endif
