/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for sections of a few instructions. It needs no run time: any OS thread may use it. */
#ifndef MYTH_SPINLOCK_H
#define MYTH_SPINLOCK_H

#include <tulle/detail/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    volatile int locked;
} myth_spinlock_t;

/* clang-format off */
#define MYTH_SPINLOCK_INITIALIZER {0}
/* clang-format on */

/* EINVAL: null. */
TULLE_API int myth_spin_init(myth_spinlock_t* lock);
TULLE_API int myth_spin_destroy(myth_spinlock_t* lock);
/* Who waits lets other threads of its worker run. */
TULLE_API int myth_spin_lock(myth_spinlock_t* lock);
/* 1: the caller holds it. 0: it does not, or null. */
TULLE_API int myth_spin_trylock(myth_spinlock_t* lock);
TULLE_API int myth_spin_unlock(myth_spinlock_t* lock);

#ifdef __cplusplus
}
#endif

#endif
