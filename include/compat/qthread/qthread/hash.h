/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QTHREAD_HASH_H
#define QTHREAD_HASH_H

#include "common.h"
#include "macros.h"
#include "qthread.h"

Q_STARTCXX

#if QTHREAD_BITS == 32
#define GOLDEN_RATIO 0x9e3779b9
#else
#define GOLDEN_RATIO 0x9e3779b97f4a7c13LL
#endif

/* Spread the bits of the key over the result. */
uint64_t qt_hash64(uint64_t key);
/* `state`: what the hash of the bytes before was, or a seed. */
aligned_t qt_hash_bytes(void* key_ptr, size_t bytes, aligned_t state);

Q_ENDCXX

#endif
