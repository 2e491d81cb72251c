/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic blocks (<tulle/atomic_block.hpp>) in C, for C11 and C++20. Of the blocks of one place one
 * runs at a time, and none of another place is held up. A block may not wait for another thread,
 * start a block, or call another place: such blocks could wait for each other for ever.
 * -EINVAL: a null function. -ENOMEM. An exception of C++ that leaves a function ends the block, and
 * is the number that it stands for, else -EREMOTEIO.
 * Source: `atomic` and `when` of X10 (Charles and others, OOPSLA 2005). */
#ifndef TULLE_DETAIL_ATOMIC_BLOCK_H
#define TULLE_DETAIL_ATOMIC_BLOCK_H

#include <tulle/detail/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory ordering, of both: what happens in a block happens before the blocks of this place that
 * come after it. */
TULLE_API int tulle_atomically(void (*block)(void*), void* argument);
/* Waits until the condition is not 0, and runs the block before anything can change that, if only
 * atomic blocks do. It is evaluated again after each block of this place. */
TULLE_API int tulle_when(int (*condition)(void*), void (*block)(void*), void* argument);

#ifdef __cplusplus
}
#endif

#endif
