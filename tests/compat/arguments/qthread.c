/* SPDX-License-Identifier: Apache-2.0 */
/* Each function of the face for Qthreads with arguments that make no sense: the lines of
 * qthread.txt, which generate.py has made into calls. */
#define _GNU_SOURCE
#include "qthread_headers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- arguments -------------------------------------------------------------------------------- */

/* No memory has so much, though it could be asked for. */
#define TOO_MUCH ((size_t)1 << 50)
#define UNALIGNED ((void*)(buffer.bytes + 1))
#define BEYOND ((void*)(uintptr_t)0xffffffffffffffc0)

static union {
    char bytes[4096];
    max_align_t aligned;
} buffer;
static aligned_t full, value, uints[8];
static saligned_t ints[8];
static double numbers[8], zero, float_sum;
static float single;
static int grid_column[2][2];
static int* grid[2] = {grid_column[0], grid_column[1]};
static void* outputs[8];
static qthread_shepherd_id_t shepherd;
static struct pollfd poll_entry = {-1, 0, 0};
static struct timeval no_time;
static struct rusage usage;
static fd_set fds;
static socklen_t address_size = 64;
static int status, zero_fd, null_fd;
static qthread_key_t key;
static char file_name[64];
static void *map, *piece;

static void reset_objects(void) {
    qthread_fill(&full);
    value = 1;
    map = piece = NULL;
    if (file_name[0] != '\0') unlink(file_name);
    file_name[0] = '\0';
    for (int k = 0; k != 8; ++k) outputs[k] = buffer.bytes + 256 * k;
}

/* Each call has words of its own, since qthreads of earlier ones may still fill theirs. */
static inline aligned_t* new_word(void) { return calloc(1, sizeof(aligned_t)); }
static inline aligned_t* empty_word(void) {
    aligned_t* const word = new_word();
    qthread_empty(word);
    return word;
}
static inline aligned_t* locked_word(void) {
    aligned_t* const word = new_word();
    qthread_lock(word);
    return word;
}
static inline syncvar_t* new_syncvar(void) { return calloc(1, sizeof(syncvar_t)); }
static inline syncvar_t* empty_syncvar(void) {
    syncvar_t* const word = new_syncvar();
    qthread_syncvar_empty(word);
    return word;
}
static inline aligned_t** words(void) {
    static aligned_t* list[1] = {&full};
    return list;
}
/* As qthread_spawn() frees it. */
static inline void* preconditions(void) {
    aligned_t** const list = malloc(2 * sizeof *list);
    list[0] = (aligned_t*)(uintptr_t)1;
    list[1] = &full;
    return list;
}
static inline qthread_spinlock_t* new_spinlock(void) {
    qthread_spinlock_t* const made = calloc(1, sizeof *made);
    qthread_spinlock_init(made, false);
    return made;
}
static inline qthread_spinlock_t* locked_spinlock(void) {
    qthread_spinlock_t* const made = new_spinlock();
    qthread_spinlock_lock(made);
    return made;
}
static inline qthread_queue_t made_queue(void) { return qthread_queue_create(0, 0); }
static inline qthread_queue_t full_queue(void) {
    return qthread_queue_create(QTHREAD_QUEUE_CAPPED, 0);
}
static inline qthread_key_t made_key(void) {
    qthread_key_t made = NULL;
    qthread_key_create(&made, NULL);
    return made;
}
static inline qt_sinc_t* sinc_memory(void) { return calloc(1, sizeof(qt_sinc_t)); }

static volatile size_t kept;
static inline void keep_number(size_t number) { kept = number; }

/* --- functions -------------------------------------------------------------------------------- */

static inline aligned_t task(void* argument) { return argument == NULL ? 1 : 2; }
static inline aligned_t task_me(qthread_t* me, void* argument) {
    return me == NULL && argument == NULL ? 1 : 2;
}
static inline void add(void* to, void const* from) {
    double a = 0, b = 0;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    a += b;
    memcpy(to, &a, sizeof a);
}
static inline void add_me(void* to, void* from) { add(to, from); }
static inline void loop_body(size_t from, size_t to, void* argument) {
    keep_number(from + to + (size_t)(uintptr_t)argument);
}
static inline void loop_body_me(qthread_t* me, size_t from, size_t to, void* argument) {
    keep_number(from + to + (size_t)(uintptr_t)argument + (me == NULL));
}
static inline void step_body(void* argument) { keep_number((size_t)(uintptr_t)argument); }
static inline void result_body(size_t from, size_t to, void* argument, void* result) {
    (void)from, (void)to, (void)argument;
    memset(result, 0, sizeof(double));
}
static inline void result_body_me(qthread_t* me, size_t from, size_t to, void* argument,
                                  void* result) {
    (void)me;
    result_body(from, to, argument, result);
}
static inline void array_body(size_t from, size_t to, qarray* a, void* argument) {
    (void)a;
    loop_body(from, to, argument);
}
static inline void const_array_body(size_t from, size_t to, qarray const* a, void* argument) {
    (void)a;
    loop_body(from, to, argument);
}
static inline void array_result(size_t from, size_t to, qarray* a, void* argument, void* result) {
    (void)a;
    result_body(from, to, argument, result);
}
static inline void distance(void const* a, void const* b) { keep_number(a == b); }
static inline void distance_out(void const* a, void const* b, void* out) {
    keep_number(a == b);
    if (out != NULL) memset(out, 0, 1);
}
static inline void wave(void const* left, void const* corner, void const* below, void* out) {
    (void)left, (void)corner;
    memmove(out, below, sizeof(int));
}
static inline int equals(void* a, void* b) { return a == b; }
static inline int hash(void* a) { return (int)((uintptr_t)a >> 4); }
static inline void cleanup(void* a, void* b) { keep_number(a == b); }

/* --- objects ---------------------------------------------------------------------------------- */

static inline qt_sinc_t* made_sinc(void) { return qt_sinc_create(sizeof zero, &zero, add, 1); }
static inline qt_sinc_t* done_sinc(void) { return qt_sinc_create(sizeof zero, &zero, add, 0); }
static inline qt_barrier_t* barrier(void) { return qt_barrier_create(1, LOOP_BARRIER); }
static inline qt_feb_barrier_t* feb_barrier(void) { return qt_feb_barrier_create(1); }
static inline qarray* array(void) { return qarray_create(4, sizeof(double)); }
static inline qt_wavefront_lattice* lattice(void) { return qt_wavefront(array(), array(), wave); }
static inline qqloop_handle_t* loop(void) {
    return qt_loop_queue_create(CHUNK, 0, 4, 1, loop_body, NULL);
}
static inline qpool* pool(void) { return qpool_create(16); }
static inline qt_dictionary* dictionary(void) { return qt_dictionary_create(equals, hash, NULL); }
static inline qt_dictionary_iterator* iterator(void) {
    return qt_dictionary_iterator_create(dictionary());
}
static inline qswsrqueue_t* ring(void) { return qswsrqueue_create(8); }
static inline qswsrqueue_t* filled_ring(void) {
    qswsrqueue_t* const made = ring();
    qswsrqueue_enqueue(made, &value);
    return made;
}
static inline char const* new_name(void) {
    snprintf(file_name, sizeof file_name, "%s/tulle-arguments-XXXXXX", P_tmpdir);
    close(mkstemp(file_name));
    return file_name;
}
static inline void* fixed_map(void) {
    if (map == NULL) map = qalloc_makestatmap(1 << 16, NULL, new_name(), 16, 1);
    return map;
}
static inline void* dynamic_map(void) {
    if (map == NULL) map = qalloc_makedynmap(1 << 20, NULL, new_name(), 1);
    return map;
}
static inline void* fixed_piece(void) {
    if (piece == NULL) piece = qalloc_statmalloc(fixed_map());
    return piece;
}
static inline void* dynamic_piece(void) {
    if (piece == NULL) piece = qalloc_dynmalloc(dynamic_map(), 16);
    return piece;
}

/* --- the library ------------------------------------------------------------------------------ */

struct inside {
    void (*run)(void*);
    void* argument;
};

static void begin_library(void) {
    if (qthread_init(2) == QTHREAD_SUCCESS) return;
    fprintf(stderr, "the library does not start\n");
    _exit(2);
}
static void end_library(void) { qthread_finalize(); }
static void give_way(void) {
    qthread_yield();
    usleep(100);
}

static aligned_t call_inside(void* inside) {
    struct inside const* const what = inside;
    what->run(what->argument);
    return 0;
}
static void run_inside(void (*run)(void*), void* argument) {
    struct inside what = {run, argument};
    aligned_t done = 0;
    if (qthread_fork(call_inside, &what, &done) != QTHREAD_SUCCESS) _exit(2);
    qthread_readFF(NULL, &done);
}

#include "runner.h"

#include "qthread_calls.inc"

/* What is asked for and is too much gives null, as without the sanitizer. */
char const* __asan_default_options(void);
char const* __asan_default_options(void) { return "allocator_may_return_null=1"; }

int main(void) {
    zero_fd = open("/dev/zero", O_RDWR);
    null_fd = open("/dev/null", O_RDWR);
    if (zero_fd < 0 || null_fd < 0) return 2;
    return run_all_calls(calls, (int)(sizeof calls / sizeof *calls));
}
