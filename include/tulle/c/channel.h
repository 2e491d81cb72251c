/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of items between threads, for C11 and C++20. Items are bytes, copied in and out. 0 or a
 * negative errno: -EINVAL: a null pointer or a value out of range; -EPIPE: closed, and for
 * receivers empty as well; -EBUSY: a try found no room or no item; -ETIMEDOUT; -ECANCELED;
 * -ENOMEM: by sends to an unbounded channel. After an error nothing was sent or received. */
#ifndef TULLE_DETAIL_CHANNEL_H
#define TULLE_DETAIL_CHANNEL_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A capacity: no bound. */
#define TULLE_UNBOUNDED SIZE_MAX

/* A queue of items. */
typedef struct tulle_channel tulle_channel_t;

/* One of those that a thread waits for. */
typedef struct {
    tulle_channel_t* channel; /* which it is */
    void* item;               /* to be sent, or storage for what is received */
    int is_send;              /* nonzero: send */
    int result;               /* of the last select: 0 or -EPIPE if it was chosen, else -EBUSY */
} tulle_channel_case_t;

/* Items of `item_size` bytes, not 0, aligned to at most 16. `capacity` 0: a sender waits until its
 * item is received. -ENOMEM. */
TULLE_API int tulle_channel_create(tulle_channel_t** out, size_t item_size, size_t capacity);
/* No call may be in progress. */
TULLE_API int tulle_channel_destroy(tulle_channel_t* channel);
TULLE_API int tulle_channel_send(tulle_channel_t* channel, const void* item);
TULLE_API int tulle_channel_trysend(tulle_channel_t* channel, const void* item);
TULLE_API int tulle_channel_timedsend(tulle_channel_t* channel, const void* item,
                                      uint64_t timeout_ns);
TULLE_API int tulle_channel_send_within(tulle_channel_t* channel, const void* item,
                                        const tulle_limit_t* limit);
TULLE_API int tulle_channel_receive(tulle_channel_t* channel, void* item);
TULLE_API int tulle_channel_tryreceive(tulle_channel_t* channel, void* item);
TULLE_API int tulle_channel_timedreceive(tulle_channel_t* channel, void* item, uint64_t timeout_ns);
TULLE_API int tulle_channel_receive_within(tulle_channel_t* channel, void* item,
                                           const tulle_limit_t* limit);
/* -EALREADY: it was closed before. */
TULLE_API int tulle_channel_close(tulle_channel_t* channel);
/* Items in it: a snapshot. 0 for null. */
TULLE_API size_t tulle_channel_size(tulle_channel_t* channel);

/* Does one of `count` cases, whichever can go on; a closed channel can. The index of the case, or
 * an error. -ENOMEM also: for more than 8. */
TULLE_API int tulle_channel_select(tulle_channel_case_t* cases, size_t count);
TULLE_API int tulle_channel_tryselect(tulle_channel_case_t* cases, size_t count);
TULLE_API int tulle_channel_timedselect(tulle_channel_case_t* cases, size_t count,
                                        uint64_t timeout_ns);
TULLE_API int tulle_channel_select_within(tulle_channel_case_t* cases, size_t count,
                                          const tulle_limit_t* limit);

#ifdef __cplusplus
}
#endif

#endif
