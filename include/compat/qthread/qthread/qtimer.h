/* SPDX-License-Identifier: Apache-2.0 */
/* Stop watches, in seconds. */
#ifndef QTHREAD_QTIMER_H
#define QTHREAD_QTIMER_H

#include "macros.h"

Q_STARTCXX

typedef struct qtimer_s* qtimer_t;

/* A number that is different each time, from the clock. */
unsigned long qtimer_fastrand(void);
double qtimer_wtime(void);
double qtimer_res(void);

qtimer_t qtimer_create(void);
void qtimer_destroy(qtimer_t timer);
void qtimer_start(qtimer_t timer);
void qtimer_stop(qtimer_t timer);
/* From start to stop. */
double qtimer_secs(qtimer_t timer);

Q_ENDCXX

#endif
