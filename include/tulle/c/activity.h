/* SPDX-License-Identifier: Apache-2.0 */
/* at, async and finish of X10 (<tulle/place.hpp>, <tulle/finish.hpp>) in C: functions that run at
 * other places with copies of bytes, and waiting for all of them. For C11 and C++20. With one place
 * all of this works, too. Functions are the same at all places; addresses mean something only where
 * they are from.
 * A function gets its argument as a copy, aligned for any object, that is gone when it returns;
 * null if it has no bytes.
 * An exception of C++ that leaves a function does not go on: it is an error of the call, or of the
 * finish, the number that it stands for, else -EREMOTEIO.
 * -EINVAL: there is no such place; a null pointer; more bytes than PTRDIFF_MAX; with
 * TULLE_CHECK=1, bytes that hold an address of the place that sends them. -ENOENT: the function is
 * in no program or library, or the other place does not have it. -EHOSTDOWN: a place has died.
 * -ENOMEM.
 * Source: X10 (Charles and others, OOPSLA 2005). */
#ifndef TULLE_DETAIL_ACTIVITY_H
#define TULLE_DETAIL_ACTIVITY_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- at --------------------------------------------------------------------------------------- */

/* Writes its result; `result` comes zeroed, and null if it has no bytes. */
typedef void tulle_call_function_t(const void* argument, size_t size, void* result,
                                   size_t result_size);

/* Calls it at that place and waits, which other threads of the caller's workers do not. `result`
 * null, and `result_size` 0: a statement.
 * Memory ordering: what happens before happens before the call, and what happens in it before the
 * return. */
TULLE_API int tulle_call_at(int place, tulle_call_function_t* function, const void* argument,
                            size_t size, void* result, size_t result_size);

/* The same on workers of that shepherd of the place. -EINVAL: it has none of that number. */
TULLE_API int tulle_call_at_shepherd(int place, int shepherd, tulle_call_function_t* function,
                                     const void* argument, size_t size, void* result,
                                     size_t result_size);

/* A call that has begun. */
typedef struct tulle_call tulle_call_t;

/* Calls it at that place without waiting. */
TULLE_API int tulle_call_begin(tulle_call_t** out, int place, tulle_call_function_t* function,
                               const void* argument, size_t size, size_t result_size);
/* Waits, copies the result to `result`, which may be null, and ends the handle; its errors are
 * those of the call. `limit` null: as long as it takes. When it is reached: -ETIMEDOUT or
 * -ECANCELED, and the handle stays. */
TULLE_API int tulle_call_wait(tulle_call_t* call, void* result, const tulle_limit_t* limit);
/* Ends the handle without waiting; the call goes on. */
TULLE_API int tulle_call_abandon(tulle_call_t* call);

/* --- finish and async ------------------------------------------------------------------------- */

/* Those of one finish; usable by any thread of the place where it was given out, until the finish
 * has ended. */
typedef struct tulle_activities tulle_activities_t;
/* What runs as an activity. */
typedef void tulle_activity_function_t(const void* argument, size_t size);

/* Calls the body, and waits for all activities that it, or they, have started, at whatever place.
 * Returns the error of one of them if there was any: -EHOSTDOWN before -ENOMEM before others.
 * Memory ordering: what happens in an activity happens before the return. */
TULLE_API int tulle_finish(void (*body)(tulle_activities_t* all, void* argument), void* argument);
/* A finish that is cancelled when the limit is reached, by tulle_finish_cancel(), by an
 * exception, or with the finish around it: then activities that have not begun do not begin, and
 * -ECANCELED is returned once all have ended, if there is no other error.
 * `limit` null: as tulle_finish().
 * `lost` may be null: how many activities and calls at dead places nothing was heard of. */
TULLE_API int tulle_finish_within(void (*body)(tulle_activities_t* all, void* argument),
                                  void* argument, const tulle_limit_t* limit, uint64_t* lost);

/* Of all that follow `activities` null are those of the finish that the caller belongs to, in its
 * body or in an activity. -EPERM: it belongs to none.
 * A thread at that place; returns at once. Its errors are those of the finish. */
TULLE_API int tulle_async_at(tulle_activities_t* activities, int place,
                             tulle_activity_function_t* function, const void* argument,
                             size_t size);
/* One that may run at any place: here, or where there is nothing else to do. */
TULLE_API int tulle_async_any(tulle_activities_t* activities, tulle_activity_function_t* function,
                              const void* argument, size_t size);
/* Cancels the finish at all places. -EALREADY: it is; -EPERM besides: neither it nor one around it
 * has a limit. */
TULLE_API int tulle_finish_cancel(tulle_activities_t* activities);
/* What activities check, or give to waits as a part of their limit, to end when the finish is
 * cancelled; not to be destroyed, and not to be requested. Null: it cannot be cancelled, or there
 * is no finish. */
TULLE_API tulle_cancellation_t* tulle_finish_cancellation(tulle_activities_t* activities);

/* --- objects of other places ------------------------------------------------------------------ */

/* An object of one place, known to all. Does not own it. Its bytes travel, also with TULLE_CHECK=1.
 */
typedef struct {
    int64_t place;       /* its number */
    uint64_t complement; /* of the address */
} tulle_global_ref_t;

/* Of an object of the caller's place. */
TULLE_API tulle_global_ref_t tulle_global_ref(const void* object);
/* Null: the caller is at another place. */
TULLE_API void* tulle_global_ref_get(tulle_global_ref_t ref);

#ifdef __cplusplus
}
#endif

#endif
