/* SPDX-License-Identifier: Apache-2.0 */
/* Full/empty words, mutexes, barriers and signals of another place by their global addresses
 * (<tulle/c/global_memory.h>): what the functions of <tulle/c/feb.h> and <tulle/c/sync.h> do at the
 * home of the object, whose threads may call these.
 * The caller waits, its worker does not. For C11 and C++20.
 * An object lies in the segment of one place; bytes of a TULLE_..._INIT may be written there from
 * anywhere.
 * `limit` null: as long as it takes; a time-out of 0 tries. When it is reached: -ETIMEDOUT or
 * -ECANCELED, with nothing done.
 * -EINVAL: a null pointer, not aligned, at two places, another size of a word than 1, 2, 4 or 8.
 * -EFAULT: not in global memory. -EHOSTDOWN: the home has died. -ENOMEM. */
#ifndef TULLE_DETAIL_GLOBAL_SYNC_H
#define TULLE_DETAIL_GLOBAL_SYNC_H

#include <tulle/c/cancel.h>
#include <tulle/c/sync.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without waiting, as the functions of <tulle/c/feb.h>. */
TULLE_API int tulle_global_feb_is_full(const void* word); /* 1, 0 */
TULLE_API int tulle_global_feb_fill(void* word, size_t size);
TULLE_API int tulle_global_feb_empty(void* word, size_t size);
TULLE_API int tulle_global_feb_purge(void* word, const void* value,
                                     size_t size); /* `value` null: zeros */
TULLE_API int tulle_global_feb_write_f(void* word, const void* value, size_t size);
/* `result` may be null. */
TULLE_API int tulle_global_feb_read_xx(void* result, const void* word, size_t size);
TULLE_API int tulle_global_feb_read_ff(void* result, const void* word, size_t size,
                                       const tulle_limit_t* limit);
TULLE_API int tulle_global_feb_read_fe(void* result, void* word, size_t size,
                                       const tulle_limit_t* limit);
TULLE_API int tulle_global_feb_write_ff(void* word, const void* value, size_t size,
                                        const tulle_limit_t* limit);
TULLE_API int tulle_global_feb_write_ef(void* word, const void* value, size_t size,
                                        const tulle_limit_t* limit);

/* -EOWNERDEAD: a place has died that held it; any place may unlock it then. -EPERM of unlock: the
 * caller's place does not hold it by these functions. */
TULLE_API int tulle_global_mutex_lock(tulle_mutex_t* mutex, const tulle_limit_t* limit);
TULLE_API int tulle_global_mutex_unlock(tulle_mutex_t* mutex);

/* As tulle_barrier_wait(). */
TULLE_API int tulle_global_barrier_wait(tulle_barrier_t* barrier, const tulle_limit_t* limit);

/* Notifying returns at once; an error there ends the program with a message. */
TULLE_API int tulle_global_signal_notify(tulle_signal_t* signal);
TULLE_API int tulle_global_signal_add_signalers(tulle_signal_t* signal, uint32_t more);
TULLE_API int
tulle_global_signal_wait(tulle_signal_t* signal,
                         const tulle_limit_t* limit); /* -EBUSY: another waits already */

#ifdef __cplusplus
}
#endif

#endif
