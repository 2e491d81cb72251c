/* SPDX-License-Identifier: Apache-2.0 */
/* Full/empty words for C: every aligned word of 1, 2, 4 or 8 bytes of memory has a state, full
 * unless somebody has emptied it, and threads wait for it. `size` is 1, 2, 4 or 8; all that use a
 * word at an address must agree on it (-EINVAL: another size, a null word, or one not aligned).
 * Errors besides: -EBUSY of try, -ETIMEDOUT of timed; -ENOMEM, with nothing done, of what makes a
 * word empty. The result of a read may be null: not wanted. A timeout is in nanoseconds; 0 tries,
 * TULLE_FOREVER waits as long as it takes. */
#ifndef TULLE_DETAIL_FEB_H
#define TULLE_DETAIL_FEB_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

TULLE_API int tulle_feb_is_full(const void* word); /* 1, 0 */
/* Writes the numbers of at most `capacity` threads that wait for the word (0: a forked thread that
 * has none); how many wait. */
TULLE_API size_t tulle_feb_waiting(const void* word, uint64_t* ids, size_t capacity);

/* Without waiting. Fill and empty leave the value; purge writes (zeros if `value` is null) and
 * empties; write_f writes and fills. */
TULLE_API int tulle_feb_fill(void* word, size_t size);
TULLE_API int tulle_feb_empty(void* word, size_t size);
TULLE_API int tulle_feb_purge(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_write_f(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_read_xx(void* result, const void* word, size_t size);

/* Wait until the word is full, and leave it so. */
TULLE_API int tulle_feb_read_ff(void* result, const void* word, size_t size);
TULLE_API int tulle_feb_try_read_ff(void* result, const void* word, size_t size);
TULLE_API int tulle_feb_timed_read_ff(void* result, const void* word, size_t size,
                                      uint64_t timeout_ns);
TULLE_API int tulle_feb_write_ff(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_try_write_ff(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_timed_write_ff(void* word, const void* value, size_t size,
                                       uint64_t timeout_ns);

/* Wait until the word is full, and make it empty. */
TULLE_API int tulle_feb_read_fe(void* result, void* word, size_t size);
TULLE_API int tulle_feb_try_read_fe(void* result, void* word, size_t size);
TULLE_API int tulle_feb_timed_read_fe(void* result, void* word, size_t size, uint64_t timeout_ns);

/* Wait until the word is empty, and make it full. */
TULLE_API int tulle_feb_write_ef(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_try_write_ef(void* word, const void* value, size_t size);
TULLE_API int tulle_feb_timed_write_ef(void* word, const void* value, size_t size,
                                       uint64_t timeout_ns);

/* A mutex for each address, whose memory is not touched: the full/empty state of the byte there.
 * One address is not to be used as both at once; a debug build of the library finds it. -EINVAL:
 * null; -ENOMEM, with nothing done, of the first three. Any thread may unlock. */
TULLE_API int tulle_address_lock(const void* address);
TULLE_API int tulle_address_trylock(const void* address);
TULLE_API int tulle_address_timedlock(const void* address, uint64_t timeout_ns);
TULLE_API int tulle_address_unlock(const void* address);

#ifdef __cplusplus
}
#endif

#endif
