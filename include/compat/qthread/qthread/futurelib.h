/* SPDX-License-Identifier: Apache-2.0 */
/* Futures: qthreads of which at most so many are alive on each shepherd (section 3.2 of the paper
 * of 2008). */
#ifndef QTHREAD_FUTURELIB_H
#define QTHREAD_FUTURELIB_H

#include "macros.h"
#include "qthread.h"

Q_STARTCXX

/* At most `limit` futures on each shepherd; 0: as many as one likes. Before the first future, or
 * when all have ended. */
int future_init(int limit);
/* As qthread_fork(), but waits until a place is free; a future that forks one lends its own place
 * meanwhile. */
int future_fork(qthread_f func, void* arg, aligned_t* ret);
int future_fork_to(qthread_f func, void* arg, aligned_t* ret, qthread_shepherd_id_t shepherd);

Q_ENDCXX

#endif
