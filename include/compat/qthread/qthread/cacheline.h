/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QTHREAD_CACHELINE_H
#define QTHREAD_CACHELINE_H

#include "macros.h"

Q_STARTCXX

/* Bytes of a cache line of this machine. */
int qthread_cacheline(void);

Q_ENDCXX

#endif
