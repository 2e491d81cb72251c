/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and stacks of items that begin with a pointer; <myth/myth_sleep_queue_func.h> has what is
 * done with them. */
#ifndef MYTH_SLEEP_QUEUE_H_
#define MYTH_SLEEP_QUEUE_H_

#include "myth_spinlock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whatever begins with such a pointer. */
typedef struct myth_sleep_queue_item {
    struct myth_sleep_queue_item* next;
} myth_sleep_queue_item, *myth_sleep_queue_item_t;

/* First in, first out. */
typedef struct {
    myth_spinlock_t ilock[1];
    volatile myth_sleep_queue_item_t head;
    volatile myth_sleep_queue_item_t tail;
} myth_sleep_queue_t;

/* clang-format off */
#define MYTH_SLEEP_QUEUE_INITIALIZER {{MYTH_SPINLOCK_INITIALIZER}, 0, 0}
/* clang-format on */

/* Last in, first out. */
typedef struct {
    volatile myth_sleep_queue_item_t top;
} myth_sleep_stack_t;

#ifdef __cplusplus
}
#endif

#endif
