/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory (<tulle/global_memory.hpp>) in C: addresses that mean the same at all places. For
 * C11 and C++20; conventions as in <tulle/c/sync.h>.
 * -EINVAL: a null pointer, not aligned, no bytes where some are needed. -EFAULT: not in global
 * memory, at both ends. Other values: it cannot be mapped. */
#ifndef TULLE_DETAIL_GLOBAL_MEMORY_H
#define TULLE_DETAIL_GLOBAL_MEMORY_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `size` bytes, not initialised, in the caller's group of places or another one. -ENOMEM: no hole
 * is large enough. */
TULLE_API int tulle_global_malloc(void** address, size_t size);
/* In the segment of that place. -EINVAL: there is no such place. */
TULLE_API int tulle_global_malloc_at(void** address, int place, size_t size);
TULLE_API int tulle_global_calloc(void** address, size_t count, size_t size);
/* `*address` null: as tulle_global_malloc. An error leaves all as it was. */
TULLE_API int tulle_global_realloc(void** address, size_t size);
/* Null: nothing. -EINVAL: no allocation begins there, or it has been freed. */
TULLE_API int tulle_global_free(void* address);

TULLE_API int tulle_global_place_of(const void* address); /* its number */
/* The address itself where loads and stores reach so many bytes; else null. */
TULLE_API void* tulle_global_local(void* address, size_t size);
/* Return when the bytes are there. */
TULLE_API int tulle_global_read(void* to, const void* from, size_t size);
TULLE_API int tulle_global_write(void* to, const void* from, size_t size);

/* Atomic for all places, sequentially consistent. `before`, which may be null: what was there. */
TULLE_API int tulle_global_fetch_add_32(void* address, uint32_t operand, uint32_t* before);
TULLE_API int tulle_global_fetch_add_64(void* address, uint64_t operand, uint64_t* before);
TULLE_API int tulle_global_exchange_32(void* address, uint32_t value, uint32_t* before);
TULLE_API int tulle_global_exchange_64(void* address, uint64_t value, uint64_t* before);
/* 1: it was `*expected` and is `desired` now. 0: `*expected` is what it is. */
TULLE_API int tulle_global_compare_exchange_32(void* address, uint32_t* expected, uint32_t desired);
TULLE_API int tulle_global_compare_exchange_64(void* address, uint64_t* expected, uint64_t desired);

/* What is allocated at one address. */
typedef struct {
    void* address; /* where it begins */
    size_t size;   /* bytes */
    int owner;     /* the place that has allocated it */
} tulle_global_allocation_t;
/* What is allocated, by all places: fills at most `most` entries, by address; returns how many
 * there are. -ENOMEM. */
TULLE_API long tulle_global_allocations(tulle_global_allocation_t* entries, size_t most);

#ifdef __cplusplus
}
#endif

#endif
