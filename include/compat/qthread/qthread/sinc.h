/* SPDX-License-Identifier: Apache-2.0 */
/* A sinc waits until an expected number of values have been submitted, and reduces them to one. */
#ifndef QTHREAD_SINC_H
#define QTHREAD_SINC_H

#include "macros.h"
#include "qthread.h"

#include <stdalign.h>

Q_STARTCXX

typedef void (*qt_sinc_op_f)(void* tgt, void const* src);

typedef struct qt_opaque_sinc_s {
    alignas(QTHREAD_ALIGNMENT_ALIGNED_T) uint8_t opaque_data[24];
} qt_sinc_t;

/* Of values of `sizeof_value` bytes, 0: none. `op` combines into its first argument; calls of it do
 * not overlap for one target. */
void qt_sinc_init(qt_sinc_t* restrict sinc, size_t sizeof_value, void const* restrict initial_value,
                  qt_sinc_op_f op, size_t expect);
qt_sinc_t* qt_sinc_create(size_t sizeof_value, void const* initial_value, qt_sinc_op_f op,
                          size_t expect);
/* For use again, when nobody waits or submits. */
void qt_sinc_reset(qt_sinc_t* sinc, size_t expect);
void qt_sinc_fini(qt_sinc_t* sinc);
void qt_sinc_destroy(qt_sinc_t* sinc);
/* That many more. While some are outstanding, or nobody waits yet. */
void qt_sinc_expect(qt_sinc_t* sinc, size_t count);
/* The same, for a sinc of which nothing is outstanding. */
void qt_sinc_resize(qt_sinc_t* sinc, size_t const diff);
/* Where the calling worker may keep a value to submit; null if the sinc has none. */
void* qt_sinc_tmpdata(qt_sinc_t* sinc);
void qt_sinc_submit(qt_sinc_t* restrict sinc, void const* restrict value);
/* The result is copied to `target` unless that is null. */
void qt_sinc_wait(qt_sinc_t* restrict sinc, void* restrict target);

Q_ENDCXX

#endif
