/* SPDX-License-Identifier: Apache-2.0 */
/* The way in which a tasking layer of a language uses the library: it is initialised by an OS
 * thread of its own, and called by others that are no workers; tasks have local memory of the
 * layer's size, stacks of 8 MiB with guards, and argument bundles that are copied. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <qthread/qthread.h>
#include <qthread/qtimer.h>

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_tasks = 64, k_deep = 1 << 20, k_local = 200 };

struct local {
    uint64_t id;
    char rest[k_local - 8];
};
struct bundle {
    uint64_t id;
    int depth;
    char payload[300];
};

static int is_initialised = 0;
static aligned_t can_exit = 0, exit_ret = 0, next_id = 1, ended = 0, counter = 0, lock_word = 0,
                 sync_word = 0;

static struct local* own(void) { return qthread_get_tasklocal(sizeof(struct local)); }

static void* initialiser(void* unused) {
    (void)unused;
    CHECK(qthread_initialize() == QTHREAD_SUCCESS);
    qthread_purge(&can_exit);
    __atomic_store_n(&is_initialised, 1, __ATOMIC_RELEASE);
    qthread_readFF(NULL, &can_exit);
    qthread_finalize();
    return NULL;
}

/* More than any default stack. */
static int use_stack(int bytes) {
    volatile char block[4096];
    memset((char*)block, bytes & 127, sizeof block);
    return bytes <= (int)sizeof block
               ? block[100]
               : use_stack(bytes - (int)sizeof block) + (block[7] == 0 ? 1 : 0);
}

static aligned_t task(void* argument) {
    struct bundle* const b = argument;
    struct local* const l = own();
    CHECK(l != NULL);
    l->id = b->id;
    CHECK(b->payload[299] == (char)b->id);
    CHECK(qthread_shep() != NO_SHEPHERD);
    use_stack(k_deep);
    if (b->depth > 0) {
        struct bundle child = *b;
        child.depth = b->depth - 1;
        child.id = qthread_incr(&next_id, 1);
        memset(child.payload, (char)child.id, sizeof child.payload);
        CHECK(qthread_fork_copyargs_to(task, &child, sizeof child, NULL,
                                       (qthread_shepherd_id_t)(b->id % 2)) == QTHREAD_SUCCESS);
    }
    CHECK(qthread_migrate_to(qthread_shep()) == QTHREAD_SUCCESS); /* stays here from now on */
    qthread_yield();
    qthread_lock(&lock_word);
    counter += 1;
    qthread_unlock(&lock_word);
    CHECK(own()->id == b->id);
    qthread_incr(&ended, 1);
    return 0;
}

static aligned_t main_task(void* unused) {
    aligned_t value = 0;
    (void)unused;
    qthread_purge(&sync_word);
    qthread_writeEF_const(&sync_word, 5);
    qthread_readFE(&value, &sync_word);
    CHECK(value == 5 && qthread_feb_status(&sync_word) == 0);
    qthread_fill(&sync_word);
    for (int k = 0; k < k_tasks; ++k) {
        struct bundle b = {0, 3, {0}};
        b.id = qthread_incr(&next_id, 1);
        memset(b.payload, (char)b.id, sizeof b.payload);
        CHECK(qthread_fork_copyargs(task, &b, sizeof b, NULL) == QTHREAD_SUCCESS);
    }
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) != 4 * k_tasks) qthread_yield();
    qthread_fill(&exit_ret);
    return 0;
}

/* A thread of the communication layer: no worker, but it starts tasks and waits for words. */
static void* comm_thread(void* unused) {
    aligned_t done = 0;
    struct bundle b = {0, 0, {0}};
    (void)unused;
    CHECK(qthread_shep() == NO_SHEPHERD);
    CHECK(qthread_get_tasklocal(8) == NULL);
    b.id = qthread_incr(&next_id, 1);
    memset(b.payload, (char)b.id, sizeof b.payload);
    qthread_empty(&done);
    CHECK(qthread_fork_copyargs(task, &b, sizeof b, &done) == QTHREAD_SUCCESS);
    CHECK(qthread_readFF(NULL, &done) == QTHREAD_SUCCESS);
    qthread_yield();
    return NULL;
}

int main(void) {
    pthread_t initer, comm;
    qtimer_t timer = qtimer_create();
    size_t const reserved = (qthread_readstate(RUNTIME_DATA_SIZE) + 4095) / 4096 * 4096 + 2 * 4096;
    char text[32];
    snprintf(text, sizeof text, "%zu", ((size_t)8 << 20) - reserved);
    setenv("QT_STACK_SIZE", text, 1);
    setenv("QT_GUARD_PAGES", "true", 1);
    setenv("QT_HWPAR", "2", 1);
    setenv("QT_WORKER_UNIT", "core", 1);
    setenv("QT_STEAL_RATIO", "0", 1);
    snprintf(text, sizeof text, "%d", k_local);
    setenv("QT_TASKLOCAL_SIZE", text, 1);
    setenv("QT_MAX_POOL_ALLOC_SIZE", "16777216", 0);
    CHECK(qthread_shep() == NO_SHEPHERD);
    CHECK(pthread_create(&initer, NULL, initialiser, NULL) == 0);
    while (!__atomic_load_n(&is_initialised, __ATOMIC_ACQUIRE)) sched_yield();
    qtimer_start(timer);
    CHECK(qthread_num_workers() == 2);
    CHECK(qthread_readstate(STACK_SIZE) == ((size_t)8 << 20) - reserved);
    qthread_reset_target_shep();
    qthread_purge(&exit_ret);
    CHECK(qthread_fork_copyargs(main_task, NULL, 0, NULL) == QTHREAD_SUCCESS);
    CHECK(qthread_readFF(NULL, &exit_ret) == QTHREAD_SUCCESS);
    CHECK(pthread_create(&comm, NULL, comm_thread, NULL) == 0);
    CHECK(pthread_join(comm, NULL) == 0);
    CHECK(counter == 4 * k_tasks + 1);
    qtimer_stop(timer);
    CHECK(qtimer_secs(timer) > 0);
    qtimer_destroy(timer);
    qthread_fill(&can_exit);
    CHECK(pthread_join(initer, NULL) == 0);
    return 0;
}
