/* SPDX-License-Identifier: Apache-2.0 */
/* Ending waits that are not wanted any longer, for C11 and C++20. A cancellation is requested once
 * and for all, by a call, at a deadline, or with another one that it is a part of. Each kind of
 * wait has a function ..._within that takes a limit: a time-out in nanoseconds (TULLE_FOREVER:
 * none), a cancellation (null: none), or both. It returns -ETIMEDOUT or -ECANCELED when the limit
 * was reached first; what has
 * happened by then is nothing. A limit that has been reached before makes a try of the wait. */
#ifndef TULLE_DETAIL_CANCEL_H
#define TULLE_DETAIL_CANCEL_H

#include <tulle/detail/visibility.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What ends waits, once it is requested. */
typedef struct tulle_cancellation tulle_cancellation_t;

/* How long a wait may last. */
typedef struct {
    uint64_t timeout_ns; /* from the beginning of the wait; TULLE_FOREVER: no time-out */
    tulle_cancellation_t* cancellation; /* null: none */
} tulle_limit_t;

/* `whole` null: a part of nothing. -ENOMEM. */
TULLE_API int tulle_cancellation_create(tulle_cancellation_t** out, tulle_cancellation_t* whole);
/* No wait may use it any longer; its parts may outlive it. */
TULLE_API int tulle_cancellation_destroy(tulle_cancellation_t* cancellation);
/* Ends the waits that it is given to, now and in future. -EALREADY: it was requested before. */
TULLE_API int tulle_cancellation_request(tulle_cancellation_t* cancellation);
/* Requests it at a later time, if it is not to be requested earlier already. */
TULLE_API int tulle_cancellation_request_after(tulle_cancellation_t* cancellation,
                                               uint64_t time_ns);
/* 1 or 0. */
TULLE_API int tulle_cancellation_is_requested(tulle_cancellation_t* cancellation);
TULLE_API int tulle_cancellation_wait(tulle_cancellation_t* cancellation);
TULLE_API int tulle_cancellation_timedwait(tulle_cancellation_t* cancellation, uint64_t timeout_ns);
/* Sleeps for the limit's time: 0, or -ECANCELED. */
TULLE_API int tulle_sleep_within(const tulle_limit_t* limit);

#ifdef __cplusplus
}
#endif

#endif
