/* SPDX-License-Identifier: Apache-2.0 */
/* Around calls that block the OS thread: between the two, another worker takes the place of the
 * calling one. */
#ifndef QTHREAD_IO_H
#define QTHREAD_IO_H

#include "macros.h"

Q_STARTCXX

void qt_begin_blocking_action(void);
void qt_end_blocking_action(void);

Q_ENDCXX

#endif
