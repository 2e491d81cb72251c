/* SPDX-License-Identifier: Apache-2.0 */
/* What MassiveThreads does with its sleep queues and stacks, under the same names. An item is the
 * caller's; it may be used again once it has been taken out. Any OS thread. */
#ifndef MYTH_SLEEP_QUEUE_FUNC_H_
#define MYTH_SLEEP_QUEUE_FUNC_H_

#include "myth_sleep_queue.h"

#include <assert.h>

static inline void myth_sleep_queue_init(myth_sleep_queue_t* q) {
    q->head = 0;
    q->tail = 0;
    myth_spin_init(q->ilock);
}

/* It must be empty. */
static inline void myth_sleep_queue_destroy(myth_sleep_queue_t* q) {
    assert(q->head == 0 && q->tail == 0);
    myth_spin_destroy(q->ilock);
}

static inline long myth_sleep_queue_enq(myth_sleep_queue_t* q, myth_sleep_queue_item_t item) {
    item->next = 0;
    myth_spin_lock(q->ilock);
    if (q->tail != 0)
        q->tail->next = item;
    else
        q->head = item;
    q->tail = item;
    myth_spin_unlock(q->ilock);
    return 0;
}

/* Null: it is empty. */
static inline myth_sleep_queue_item_t myth_sleep_queue_deq(myth_sleep_queue_t* q) {
    myth_sleep_queue_item_t first;
    myth_spin_lock(q->ilock);
    first = q->head;
    if (first != 0) q->head = first->next;
    if (q->head == 0) q->tail = 0;
    myth_spin_unlock(q->ilock);
    return first;
}

static inline void myth_sleep_stack_init(myth_sleep_stack_t* s) { s->top = 0; }

/* It must be empty. */
static inline void myth_sleep_stack_destroy(myth_sleep_stack_t* s) {
    assert(s->top == 0);
    (void)s;
}

static inline long myth_sleep_stack_push(myth_sleep_stack_t* s, myth_sleep_queue_item_t item) {
    myth_sleep_queue_item_t top = s->top;
    do {
        item->next = top;
    } while (!__atomic_compare_exchange_n(&s->top, &top, item, 0, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED)); /* pairs with pop */
    return 0;
}

/* Null: it is empty. By one thread at a time: an item that another one takes out and puts back
 * meanwhile would be taken for unchanged. */
static inline myth_sleep_queue_item_t myth_sleep_stack_pop(myth_sleep_stack_t* s) {
    myth_sleep_queue_item_t top = __atomic_load_n(&s->top, __ATOMIC_ACQUIRE); /* pairs with push */
    while (top != 0 && !__atomic_compare_exchange_n(&s->top, &top, top->next, 0, __ATOMIC_ACQUIRE,
                                                    __ATOMIC_ACQUIRE)) {}
    return top;
}

#endif
