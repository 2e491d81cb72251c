/* SPDX-License-Identifier: Apache-2.0 */
/* Static initialisers, condition variables, locks of readers and writers, once, keys and
 * attributes, at all nodes, each of which has variables of its own. */
#include "check.h"

#include <tnt.h>
#include <tulle.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { THREADS = 8, ROUNDS = 30 };

/* Each node has a copy; all copies name the same objects. */
static tnt_mutex_t static_mutex = TNT_MUTEX_INITIALIZER;
static tnt_cond_t static_condition = TNT_COND_INITIALIZER;
static tnt_rwlock_t static_lock = TNT_RWLOCK_INITIALIZER;
static tnt_once_t static_once = TNT_ONCE_INIT;
static int own_calls; /* of this node */

struct world {
    tnt_mutex_t mutex; /* with the constant, in shared memory */
    tnt_key_t key;
    long count;
    long once;
    long destroyed;
    int turn;
    int readers;
    int most_readers;
    int writers;
    tnt_barrier_t barrier;
};
static struct world* world; /* as each thread is told */

static struct timespec after_ms(long ms) {
    struct timespec when;
    timespec_get(&when, TIME_UTC);
    when.tv_nsec += ms * 1000000;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static void for_all(void* (*function)(void*)) {
    tnt_t all[THREADS];
    for (int k = 0; k < THREADS; ++k) CHECK(tnt_create(&all[k], function, (char*)world + k) == 0);
    for (int k = 0; k < THREADS; ++k) CHECK(tnt_join(all[k], NULL) == 0);
}
static struct world* told(void* argument, int* number) {
    struct world* const w = (struct world*)((uintptr_t)argument / 64 * 64);
    if (number != NULL) *number = (int)((uintptr_t)argument % 64);
    return w;
}

static void* excludes(void* argument) {
    struct world* const w = told(argument, NULL);
    for (int k = 0; k < ROUNDS; ++k) {
        tnt_mutex_t* const mutex = k % 2 == 0 ? &static_mutex : &w->mutex;
        CHECK(tnt_mutex_lock(&static_mutex) == 0);
        if (mutex != &static_mutex) CHECK(tnt_mutex_lock(mutex) == 0);
        ++w->count;
        if (mutex != &static_mutex) CHECK(tnt_mutex_unlock(mutex) == 0);
        CHECK(tnt_mutex_unlock(&static_mutex) == 0);
    }
    return NULL;
}

static void* takes_turns(void* argument) {
    int me = 0;
    struct world* const w = told(argument, &me);
    for (int k = 0; k < ROUNDS; ++k) {
        CHECK(tnt_mutex_lock(&static_mutex) == 0);
        while (w->turn % THREADS != me) CHECK(tnt_cond_wait(&static_condition, &static_mutex) == 0);
        ++w->turn;
        CHECK(tnt_cond_broadcast(&static_condition) == 0);
        CHECK(tnt_mutex_unlock(&static_mutex) == 0);
    }
    return NULL;
}

static void* reads_and_writes(void* argument) {
    struct world* const w = told(argument, NULL);
    for (int k = 0; k < ROUNDS; ++k) {
        if (k % 5 == 0) {
            CHECK(tnt_rwlock_wrlock(&static_lock) == 0);
            CHECK(__atomic_fetch_add(&w->writers, 1, __ATOMIC_SEQ_CST) == 0);
            CHECK(__atomic_load_n(&w->readers, __ATOMIC_SEQ_CST) == 0);
            __atomic_fetch_sub(&w->writers, 1, __ATOMIC_SEQ_CST);
        } else {
            CHECK(tnt_rwlock_rdlock(&static_lock) == 0);
            __atomic_fetch_add(&w->readers, 1, __ATOMIC_SEQ_CST);
            CHECK(__atomic_load_n(&w->writers, __ATOMIC_SEQ_CST) == 0);
            __atomic_fetch_sub(&w->readers, 1, __ATOMIC_SEQ_CST);
        }
        CHECK(tnt_rwlock_unlock(&static_lock) == 0);
    }
    return NULL;
}

/* All read at once: none could if one kept the others out. */
static void* read_together(void* argument) {
    struct world* const w = told(argument, NULL);
    CHECK(tnt_rwlock_rdlock(&static_lock) == 0);
    tnt_barrier_wait(&w->barrier);
    CHECK(tnt_rwlock_trywrlock(&static_lock) == EBUSY);
    tnt_barrier_wait(&w->barrier);
    CHECK(tnt_rwlock_unlock(&static_lock) == 0);
    return NULL;
}

static struct world* of_once;
static void count_once(void) {
    ++own_calls;
    struct world* const w = __atomic_load_n(&of_once, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&w->once, 1, __ATOMIC_SEQ_CST);
}
static void* calls_once(void* argument) {
    struct world* const w = told(argument, NULL);
    __atomic_store_n(&of_once, w, __ATOMIC_SEQ_CST); /* all store the same */
    CHECK(tnt_once(&static_once, count_once) == 0);
    CHECK(w->once == 1);
    return NULL;
}

/* A variable on this stack, again and again, for threads of this node that come together. */
static int local_calls;
static void count_local(void) {
    __atomic_fetch_add(&local_calls, 1, __ATOMIC_SEQ_CST);
    tnt_yield();
}
static tnt_once_t* of_stack;
static void* calls_local(void* argument) {
    (void)argument;
    CHECK(tnt_once(of_stack, count_local) == 0);
    CHECK(__atomic_load_n(&local_calls, __ATOMIC_SEQ_CST) == 1);
    return NULL;
}
static void once_on_a_stack(void) {
    for (int k = 0; k < 10 * ROUNDS; ++k) {
        tnt_once_t once = TNT_ONCE_INIT;
        tnt_t all[THREADS];
        of_stack = &once;
        local_calls = 0;
        for (int t = 0; t < THREADS; ++t)
            CHECK(tnt_create_at(&all[t], tnt_node(), calls_local, NULL) == 0);
        for (int t = 0; t < THREADS; ++t) CHECK(tnt_join(all[t], NULL) == 0);
        CHECK(local_calls == 1);
    }
}

/* Shared memory that holds another variable each time, which all nodes use. */
static void* calls_shared(void* argument) {
    tnt_once_t* const once = (tnt_once_t*)argument;
    struct world* const shared = (struct world*)once[1];
    __atomic_store_n(&of_once, shared, __ATOMIC_RELAXED); /* by each of the node, to the same */
    CHECK(tnt_once(once, count_once) == 0);
    CHECK(__atomic_load_n(&shared->once, __ATOMIC_SEQ_CST) == (long)once[2]);
    return NULL;
}
static void once_in_shared_memory(void) {
    world->once = 0;
    for (int k = 1; k <= ROUNDS; ++k) {
        tnt_once_t* const once = tnt_malloc(3 * sizeof *once);
        tnt_t all[THREADS];
        CHECK(once != NULL);
        once[0] = TNT_ONCE_INIT;
        once[1] = (uint64_t)(uintptr_t)world;
        once[2] = (uint64_t)k;
        for (int t = 0; t < THREADS; ++t)
            CHECK(tnt_create_at(&all[t], t % tnt_nodes(), calls_shared, once) == 0);
        for (int t = 0; t < THREADS; ++t) CHECK(tnt_join(all[t], NULL) == 0);
        CHECK(world->once == k && tnt_free(once) == 0);
    }
}

/* A variable that all nodes share begins anew when it is set to the constant. */
static void* calls_static_again(void* argument) {
    (void)argument;
    CHECK(tnt_once(&static_once, count_local) == 0);
    CHECK(__atomic_load_n(&local_calls, __ATOMIC_SEQ_CST) == 1);
    return NULL;
}
static void once_in_shared_variables(void) {
    for (int k = 0; k < ROUNDS; ++k) {
        tnt_t all[THREADS];
        static_once = TNT_ONCE_INIT;
        local_calls = 0;
        for (int t = 0; t < THREADS; ++t)
            CHECK(tnt_create_at(&all[t], t % tnt_nodes(), calls_static_again, NULL) == 0);
        for (int t = 0; t < THREADS; ++t) CHECK(tnt_join(all[t], NULL) == 0);
        CHECK(local_calls == 1);
    }
}

/* Who does not get to the end has not called it. */
static void leave_once(void) { tnt_exit(&world->once); }
static void* leaves_once(void* argument) {
    CHECK(tnt_once((tnt_once_t*)argument, leave_once) == 0);
    return NULL;
}
static void once_after_an_exit(void) {
    tnt_once_t once = TNT_ONCE_INIT;
    tnt_t thread;
    void* result = NULL;
    local_calls = 0;
    CHECK(tnt_create_at(&thread, tnt_node(), leaves_once, &once) == 0);
    CHECK(tnt_join(thread, &result) == 0 && result == &world->once);
    CHECK(tnt_once(&once, count_local) == 0 && tnt_once(&once, count_local) == 0);
    CHECK(local_calls == 1);
}

static void destroy_value(void* value) {
    struct world* const w = told(value, NULL);
    __atomic_fetch_add(&w->destroyed, 1, __ATOMIC_SEQ_CST);
}
static void* keeps_values(void* argument) {
    struct world* const w = told(argument, NULL);
    CHECK(tnt_getspecific(w->key) == NULL);
    CHECK(tnt_setspecific(w->key, argument) == 0);
    tnt_yield();
    CHECK(tnt_getspecific(w->key) == argument);
    return NULL;
}

static void* makes_key(void* key) {
    CHECK(tnt_key_create((tnt_key_t*)key, NULL) == 0);
    return NULL;
}
static void create_at_last(tnt_t* thread, void* (*function)(void*), void* argument) {
    CHECK(tnt_create_at(thread, tnt_nodes() - 1, function, argument) == 0);
}
/* A key of another node for which this one has no room is a key. */
static void keys_without_room(void) {
    tulle_key key = 0;
    tulle_key last = 0;
    tnt_t thread;
    tnt_key_t* const other = tnt_malloc(sizeof *other);
    CHECK(other != NULL);
    create_at_last(&thread, makes_key, other);
    CHECK(tnt_join(thread, NULL) == 0);
    tulle_key all[1 << 12];
    unsigned count = 0;
    while (tulle_key_create(&key, NULL) == 0) all[count++] = last = key;
    if (tnt_nodes() > 1) CHECK(tnt_setspecific(*other, other) == EAGAIN);
    CHECK(tnt_getspecific(*other) == NULL);
    CHECK(tnt_key_create(&(tnt_key_t){0}, NULL) == EAGAIN);
    CHECK(tulle_key_delete(last) == 0);
    CHECK(tnt_setspecific(*other, other) == 0 && tnt_getspecific(*other) == other);
    for (unsigned k = 0; k + 1 < count; ++k) CHECK(tulle_key_delete(all[k]) == 0);
    CHECK(tnt_key_delete(*other) == 0 && tnt_free(other) == 0);
}

/* Used for the first time at another node while it is deleted: no node has it afterwards. */
static void* uses_key(void* key) {
    return (void*)(intptr_t)tnt_setspecific((tnt_key_t)(uintptr_t)key, &own_calls);
}
static void keys_deleted_at_first_use(void) {
    for (int k = 0; k < 20 * ROUNDS; ++k) {
        tnt_key_t key = 0;
        tnt_t thread;
        void* result = NULL;
        CHECK(tnt_key_create(&key, NULL) == 0);
        create_at_last(&thread, uses_key, (void*)(uintptr_t)key);
        for (int turn = 0; turn < k % 16; ++turn) tnt_yield();
        CHECK(tnt_key_delete(key) == 0);
        CHECK(tnt_join(thread, &result) == 0);
        CHECK(result == NULL || result == (void*)EINVAL);
        create_at_last(&thread, uses_key, (void*)(uintptr_t)key);
        CHECK(tnt_join(thread, &result) == 0 && result == (void*)EINVAL);
    }
}

static void* remote_self(void* argument) {
    (void)argument;
    CHECK(tnt_equal(tnt_self(), tnt_self()) && !tnt_equal(tnt_self(), 0));
    return (void*)(uintptr_t)tnt_self();
}

static void mutex_types(void) {
    tnt_mutexattr_t attributes;
    tnt_mutex_t recursive, checking;
    int type = -1;
    CHECK(tnt_mutexattr_init(&attributes) == 0);
    CHECK(tnt_mutexattr_settype(&attributes, TNT_MUTEX_RECURSIVE) == 0);
    CHECK(tnt_mutexattr_gettype(&attributes, &type) == 0 && type == TNT_MUTEX_RECURSIVE);
    CHECK(tnt_mutex_init(&recursive, &attributes) == 0);
    CHECK(tnt_mutexattr_settype(&attributes, TNT_MUTEX_ERRORCHECK) == 0);
    CHECK(tnt_mutex_init(&checking, &attributes) == 0);
    CHECK(tnt_mutexattr_settype(&attributes, 3) == EINVAL &&
          tnt_mutexattr_settype(NULL, 0) == EINVAL);
    tnt_mutexattr_t const no_type = {3};
    tnt_mutex_t none;
    CHECK(tnt_mutex_init(&none, &no_type) == EINVAL);
    for (int k = 0; k < 3; ++k) CHECK(tnt_mutex_lock(&recursive) == 0);
    CHECK(tnt_mutex_trylock(&recursive) == 0);
    for (int k = 0; k < 4; ++k) CHECK(tnt_mutex_unlock(&recursive) == 0);
    CHECK(tnt_mutex_unlock(&recursive) == EPERM);
    CHECK(tnt_mutex_lock(&checking) == 0 && tnt_mutex_lock(&checking) == EDEADLK);
    CHECK(tnt_mutex_trylock(&checking) == EBUSY && tnt_mutex_unlock(&checking) == 0);
    CHECK(tnt_mutex_destroy(&recursive) == 0 && tnt_mutex_destroy(&checking) == 0);
    CHECK(tnt_mutexattr_destroy(&attributes) == 0);
}

static void time_outs(void) {
    tnt_mutex_t mutex = TNT_MUTEX_INITIALIZER; /* on this stack: of this node alone */
    tnt_cond_t condition;
    tnt_rwlock_t lock;
    struct timespec const past = {1, 0};
    struct timespec const soon = after_ms(20);
    struct timespec const none = {0, -1};
    CHECK(tnt_cond_init(&condition, NULL) == 0 && tnt_rwlock_init(&lock, NULL) == 0);
    CHECK(tnt_cond_wait(&condition, &mutex) == EPERM);
    CHECK(tnt_mutex_lock(&mutex) == 0);
    CHECK(tnt_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    CHECK(tnt_mutex_timedlock(&mutex, &none) == EINVAL &&
          tnt_mutex_timedlock(&mutex, NULL) == EINVAL);
    CHECK(tnt_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    for (int k = 0; k < 4; ++k) {
        time_t const seconds[] = {-1, -100, -9223372038, (time_t)INT64_MIN};
        struct timespec const before_all = {seconds[k], 999999999};
        CHECK(tnt_mutex_timedlock(&mutex, &before_all) == ETIMEDOUT);
        CHECK(tnt_cond_timedwait(&condition, &mutex, &before_all) == ETIMEDOUT);
    }
    CHECK(tnt_cond_timedwait(&condition, &mutex, NULL) == EINVAL);
    CHECK(tnt_mutex_trylock(&mutex) == EBUSY && tnt_mutex_unlock(&mutex) == 0);
    CHECK(tnt_rwlock_wrlock(&lock) == 0 && tnt_rwlock_tryrdlock(&lock) == EBUSY);
    CHECK(tnt_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT);
    CHECK(tnt_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    CHECK(tnt_rwlock_destroy(&lock) == EBUSY && tnt_rwlock_unlock(&lock) == 0);
    CHECK(tnt_rwlock_unlock(&lock) == EPERM && tnt_rwlock_timedrdlock(&lock, &past) == 0);
    CHECK(tnt_rwlock_unlock(&lock) == 0 && tnt_rwlock_destroy(&lock) == 0);
    CHECK(tnt_rwlock_rdlock(&lock) == EINVAL);
    CHECK(tnt_cond_signal(&condition) == 0 && tnt_cond_destroy(&condition) == 0);
    CHECK(tnt_cond_signal(&condition) == EINVAL && tnt_mutex_destroy(&mutex) == 0);
}

/* Threads that a broadcast has called, which find the condition destroyed. */
static tnt_cond_t called;
static tnt_mutex_t of_called = TNT_MUTEX_INITIALIZER;
static int waiting; /* under the mutex */
static void* waits_to_be_called(void* argument) {
    (void)argument;
    CHECK(tnt_mutex_lock(&of_called) == 0);
    ++waiting;
    CHECK(tnt_cond_wait(&called, &of_called) == 0);
    --waiting;
    CHECK(tnt_mutex_unlock(&of_called) == 0);
    return NULL;
}
static void destroyed_after_a_broadcast(void) {
    tnt_t all[THREADS];
    CHECK(tnt_cond_init(&called, NULL) == 0);
    for (int t = 0; t < THREADS; ++t)
        CHECK(tnt_create_at(&all[t], tnt_node(), waits_to_be_called, NULL) == 0);
    for (int have_come = 0; have_come != THREADS; tnt_yield()) {
        CHECK(tnt_mutex_lock(&of_called) == 0);
        have_come = waiting;
        if (have_come == THREADS) break;
        CHECK(tnt_mutex_unlock(&of_called) == 0);
    }
    CHECK(tnt_cond_destroy(&called) == EBUSY && tnt_cond_broadcast(&called) == 0);
    CHECK(tnt_cond_destroy(&called) == 0 && tnt_cond_destroy(&called) == EINVAL);
    CHECK(tnt_cond_signal(&called) == EINVAL && tnt_cond_wait(&called, &of_called) == EINVAL);
    CHECK(tnt_mutex_unlock(&of_called) == 0);
    for (int t = 0; t < THREADS; ++t) CHECK(tnt_join(all[t], NULL) == 0);
    CHECK(waiting == 0);
}

static void attributes(void) {
    tnt_attr_t chosen;
    tnt_t thread;
    size_t size = 1;
    int state = -1;
    void* result = NULL;
    CHECK(tnt_attr_init(&chosen) == 0 && tnt_attr_init(NULL) == EINVAL);
    CHECK(tnt_attr_getstacksize(&chosen, &size) == 0 && size == 0);
    CHECK(tnt_attr_setstacksize(&chosen, 1) == EINVAL);
    CHECK(tnt_attr_setstacksize(&chosen, 1 << 20) == 0);
    CHECK(tnt_create(&thread, &chosen, remote_self, NULL) == 0);
    CHECK(tnt_join(thread, &result) == 0 && (uintptr_t)result == thread);
    CHECK(tnt_create(&thread, NULL, remote_self, NULL) == 0 && tnt_join(thread, NULL) == 0);
    CHECK(tnt_attr_setdetachstate(&chosen, TNT_CREATE_DETACHED) == 0);
    CHECK(tnt_attr_getdetachstate(&chosen, &state) == 0 && state == TNT_CREATE_DETACHED);
    CHECK(tnt_attr_setdetachstate(&chosen, 7) == EINVAL);
    tnt_attr_t const too_large = {SIZE_MAX / 2, TNT_CREATE_JOINABLE};
    tnt_attr_t const no_state = {0, 7};
    CHECK(tnt_create(&thread, &too_large, remote_self, NULL) == EINVAL);
    CHECK(tnt_create(&thread, &no_state, remote_self, NULL) == EINVAL);
    CHECK(tnt_create(&thread, &chosen, remote_self, NULL) == 0);
    int const again = tnt_join(thread, NULL);
    CHECK(again == EINVAL || again == ESRCH); /* it may have ended */
    CHECK(tnt_attr_destroy(&chosen) == 0 && tnt_attr_destroy(NULL) == EINVAL);
}

static void nothing(void) {}

static void refusals(void) {
    tnt_once_t none = 0;
    tnt_once_t local = TNT_ONCE_INIT;
    tnt_key_t key = 0;
    CHECK(tnt_once(NULL, nothing) == EINVAL && tnt_once(&local, NULL) == EINVAL);
    CHECK(tnt_once(&none, nothing) == EINVAL && tnt_once(&local, nothing) == 0);
    CHECK(tnt_key_create(NULL, NULL) == EINVAL && tnt_key_delete(0) == EINVAL);
    CHECK(tnt_setspecific(0, &key) == EINVAL && tnt_getspecific(0) == NULL);
    CHECK(tnt_key_create(&key, NULL) == 0 && tnt_setspecific(key, &key) == 0);
    CHECK(tnt_getspecific(key) == &key && tnt_key_delete(key) == 0);
    CHECK(tnt_key_delete(key) == EINVAL && tnt_setspecific(key, &key) == EINVAL);
    CHECK(tnt_cond_init(NULL) == EINVAL && tnt_rwlock_init(NULL) == EINVAL);
    CHECK(tnt_cond_wait(NULL, &static_mutex) == EINVAL);
    CHECK(tnt_cond_wait(&static_condition, NULL) == EINVAL);
    CHECK(tnt_cond_signal(NULL) == EINVAL && tnt_rwlock_wrlock(NULL) == EINVAL);
}

/* With an argument the nodes share variables. */
int main(int argc, char** argv) {
    /* tnt_init is left out. */
    int const shares = argc > 1;
    (void)argv;
    char* const memory = tnt_calloc(2, sizeof(struct world) + 64);
    CHECK(memory != NULL);
    world = (struct world*)(((uintptr_t)memory + 63) / 64 * 64);
    world->mutex = TNT_MUTEX_INITIALIZER;
    CHECK(tnt_barrier_init(&world->barrier, NULL, THREADS) == 0);
    CHECK(tnt_key_create(&world->key, destroy_value) == 0);
    for_all(excludes);
    CHECK(world->count == THREADS * ROUNDS);
    for_all(takes_turns);
    CHECK(world->turn == THREADS * ROUNDS);
    for_all(reads_and_writes);
    for_all(read_together);
    for_all(calls_once);
    CHECK(world->once == 1);
    once_on_a_stack();
    once_in_shared_memory();
    if (shares) once_in_shared_variables();
    once_after_an_exit();
    for_all(keeps_values);
    CHECK(world->destroyed == THREADS);
    keys_without_room();
    keys_deleted_at_first_use();
    mutex_types();
    time_outs();
    destroyed_after_a_broadcast();
    attributes();
    refusals();
    CHECK(tnt_free(memory) == 0 && tnt_init(0) == (shares ? 0 : EALREADY));
    return 0;
}
