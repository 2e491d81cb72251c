/* SPDX-License-Identifier: Apache-2.0
 *
 * Each function of the queues, pools, heaps, arrays and loops of the Qthreads face, called from C.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */

#include "check.h"

#include <qthread/allpairs.h>
#include <qthread/dictionary.h>
#include <qthread/futurelib.h>
#include <qthread/hash.h>
#include <qthread/qalloc.h>
#include <qthread/qarray.h>
#include <qthread/qdqueue.h>
#include <qthread/qlfqueue.h>
#include <qthread/qloop.h>
#include <qthread/qpool.h>
#include <qthread/qswsrqueue.h>
#include <qthread/qthread.h>
#include <qthread/qutil.h>
#include <qthread/wavefront.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int s_elements[100];

static void check_queues(void) {
    qlfqueue_t* const lf = qlfqueue_create();
    CHECK(lf != NULL && qlfqueue_empty(lf) == 1);
    CHECK(qlfqueue_enqueue(lf, &s_elements[1]) == QTHREAD_SUCCESS && qlfqueue_empty(lf) == 0);
    CHECK(qlfqueue_dequeue(lf) == &s_elements[1] && qlfqueue_dequeue(lf) == NULL);
    CHECK(qlfqueue_destroy(lf) == QTHREAD_SUCCESS);

    qswsrqueue_t* const ring = qswsrqueue_create(4);
    CHECK(ring != NULL && qswsrqueue_empty(ring) == 1);
    CHECK(qswsrqueue_enqueue(ring, &s_elements[1]) == QTHREAD_SUCCESS);
    CHECK(qswsrqueue_enqueue_blocking(ring, &s_elements[2]) == QTHREAD_SUCCESS);
    CHECK(qswsrqueue_dequeue(ring) == &s_elements[1] &&
          qswsrqueue_dequeue_blocking(ring) == &s_elements[2]);
    CHECK(qswsrqueue_destroy(ring) == QTHREAD_SUCCESS);

    qdqueue_t* const d = qdqueue_create();
    CHECK(d != NULL && qdqueue_empty(d) == 1);
    CHECK(qdqueue_enqueue(d, &s_elements[1]) == QTHREAD_SUCCESS &&
          qdqueue_enqueue_there(d, &s_elements[2], 0) == QTHREAD_SUCCESS);
    CHECK(qdqueue_empty(d) == 0);
    CHECK(qdqueue_dequeue(d) != NULL && qdqueue_dequeue(d) != NULL && qdqueue_dequeue(d) == NULL);
    CHECK(qdqueue_destroy(d) == QTHREAD_SUCCESS);
}

static void check_pool(void) {
    qpool* const pool = qpool_create(100);
    qpool* const aligned = qpool_create_aligned(100, 256);
    char* const a = qpool_alloc(pool);
    char* const b = qpool_alloc(aligned);
    CHECK(a != NULL && b != NULL && (uintptr_t)b % 256 == 0);
    memset(a, 1, 100);
    memset(b, 2, 100);
    qpool_free(pool, a);
    qpool_free(aligned, b);
    qpool_destroy(pool);
    qpool_destroy(aligned);
}

static int same_text(void* a, void* b) { return strcmp(a, b) == 0; }
static int hash_text(void* text) { return (int)qt_hash_bytes(text, strlen(text), GOLDEN_RATIO); }
static int s_cleaned;
static void clean(void* key, void* value) {
    (void)key;
    (void)value;
    ++s_cleaned;
}

static void check_dictionary(void) {
    char one[] = "one", two[] = "two", value[] = "value";
    qt_dictionary* const d = qt_dictionary_create(same_text, hash_text, clean);
    CHECK(qt_dictionary_put(d, one, value) == value &&
          qt_dictionary_put_if_absent(d, two, two) == two);
    CHECK(qt_dictionary_get(d, "one") == value &&
          qt_dictionary_put_if_absent(d, "one", two) == value);
    qt_dictionary_iterator* const it = qt_dictionary_iterator_create(d);
    qt_dictionary_iterator* const end = qt_dictionary_end(d);
    int entries = 0;
    while (qt_dictionary_iterator_next(it) != NULL) {
        CHECK(qt_dictionary_iterator_get(it)->key == one ||
              qt_dictionary_iterator_get(it)->key == two);
        ++entries;
    }
    CHECK(entries == 2 && qt_dictionary_iterator_equals(it, end));
    qt_dictionary_iterator* const copy = qt_dictionary_iterator_copy(it);
    CHECK(qt_dictionary_iterator_equals(it, copy));
    qt_dictionary_iterator_destroy(copy);
    qt_dictionary_iterator_destroy(end);
    qt_dictionary_iterator_destroy(it);
    qt_dictionary_printbuckets(d);
    CHECK(qt_dictionary_delete(d, "one") == value && s_cleaned == 1);
    qt_dictionary_destroy(d);
    CHECK(s_cleaned == 2);
}

static void check_heaps(void) {
    char fixed_name[] = "heapXXXXXX", dynamic_name[] = "heapXXXXXX";
    CHECK(mkstemp(fixed_name) >= 0 && mkstemp(dynamic_name) >= 0);
    mapinfo_t* const fixed = qalloc_makestatmap(1 << 20, NULL, fixed_name, 16, 3);
    dynmapinfo_t* const dynamic = qalloc_makedynmap(1 << 20, NULL, dynamic_name, 3);
    CHECK(fixed != NULL && dynamic != NULL);
    void* const a = qalloc_statmalloc(fixed);
    void* const b = qalloc_dynmalloc(dynamic, 1000);
    void* const c = qalloc_malloc(dynamic, 100000);
    CHECK(a != NULL && b != NULL && c != NULL);
    qalloc_checkpoint();
    qalloc_statfree(a, fixed);
    qalloc_dynfree(b, dynamic);
    qalloc_free(c, dynamic);
    qalloc_cleanup();
    /* It lies where it lay, unless another OS thread has mapped something there since. */
    CHECK(qalloc_loadmap(fixed_name) != NULL || errno == EEXIST);
    qalloc_cleanup();
    CHECK(remove(fixed_name) == 0 && remove(dynamic_name) == 0);
}

static aligned_t s_count;
static void count_range(size_t const from, size_t const to, void* arg) {
    (void)qthread_incr((aligned_t*)arg, to - from);
}
static void count_one(void* arg) { (void)qthread_incr((aligned_t*)arg, 1); }
static aligned_t count_call(void* arg) {
    (void)qthread_incr((aligned_t*)arg, 1);
    return 0;
}
static aligned_t count_call_me(qthread_t* me, void* arg) {
    (void)me;
    return count_call(arg);
}
static void count_range_me(qthread_t* me, size_t const from, size_t const to, void* arg) {
    (void)me;
    count_range(from, to, arg);
}
static void sum_range(size_t const from, size_t const to, void* arg, void* ret) {
    (void)arg;
    aligned_t sum = 0;
    for (size_t i = from; i != to; ++i) sum += i;
    *(aligned_t*)ret = sum;
}
static void sum_range_me(qthread_t* me, size_t const from, size_t const to, void* arg, void* ret) {
    (void)me;
    sum_range(from, to, arg, ret);
}
static void add_me(void* a, void* b) { *(aligned_t*)a += *(aligned_t*)b; }

static aligned_t taken_count(void) {
    aligned_t const count = s_count;
    s_count = 0;
    return count;
}

static void check_loops(void) {
    qt_loop(0, 10, count_range, &s_count);
    qt_loop_simple(0, 10, count_range, &s_count);
    qt_loop_sv(0, 10, count_range, &s_count);
    qt_loop_dc(0, 10, count_range, &s_count);
    qt_loop_aligned(0, 10, count_range, &s_count);
    qt_loop_sinc(0, 10, count_range, &s_count);
    CHECK(future_init(2) == QTHREAD_SUCCESS);
    qt_loop_future(0, 10, count_range, &s_count);
    qt_loop_step(0, 10, 5, count_one, &s_count);
    CHECK(taken_count() == 72);
    qt_loop_balance(0, 10, count_range, &s_count);
    qt_loop_balance_simple(0, 10, count_range, &s_count);
    qt_loop_balance_sv(0, 10, count_range, &s_count);
    qt_loop_balance_dc(0, 10, count_range, &s_count);
    qt_loop_balance_aligned(0, 10, count_range, &s_count);
    qt_loop_balance_sinc(0, 10, count_range, &s_count);
    qt_loop_balance_future(0, 10, count_range, &s_count);
    CHECK(taken_count() == 70);
}

static void check_loops_of_2008(void) {
    qt_loop(0, 10, 2, count_call, &s_count);
    qt_loop(0, 10, 2, count_call_me, &s_count);
    qt_loop_future(0, 10, 2, count_call, &s_count);
    qt_loop_future(0, 10, 2, count_call_me, &s_count);
    CHECK(taken_count() == 20);
    qt_loop_balance(0, 10, count_range_me, &s_count);
    qt_loop_balance_future(0, 10, count_range_me, &s_count);
    CHECK(taken_count() == 20);
    aligned_t sum = 0;
    qt_loopaccum_balance(0, 100, sizeof sum, &sum, sum_range_me, NULL, add_me);
    CHECK(sum == 4950);
    qt_loopaccum_balance_future(0, 100, sizeof sum, &sum, sum_range_me, NULL, add_me);
    CHECK(sum == 4950);
    CHECK(future_init(0) == QTHREAD_SUCCESS);
}

static void check_accumulation(void) {
    aligned_t sum = 0;
    qt_loopaccum_balance_sinc(0, 100, sizeof sum, &sum, sum_range, NULL, qt_uint_add_acc);
    CHECK(sum == 4950);
    qt_loopaccum_balance(0, 10, sizeof sum, &sum, sum_range, NULL, qt_uint_add_acc);
    CHECK(sum == 45);
    qt_loopaccum_balance_sv(0, 100, sizeof sum, &sum, sum_range, NULL, qt_uint_add_acc);
    CHECK(sum == 4950);
    qt_loopaccum_balance_dc(0, 10, sizeof sum, &sum, sum_range, NULL, qt_uint_add_acc);
    CHECK(sum == 45);
    qt_loopaccum_balance_future(0, 100, sizeof sum, &sum, sum_range, NULL, qt_uint_add_acc);
    CHECK(sum == 4950);
}

#define CHECK_ACCUMULATORS(NUMBER, PREFIX)                                                         \
    do {                                                                                           \
        NUMBER a = 2;                                                                              \
        NUMBER const b = 3;                                                                        \
        PREFIX##_add_acc(&a, &b);                                                                  \
        CHECK(a == (NUMBER)5);                                                                     \
        PREFIX##_prod_acc(&a, &b);                                                                 \
        CHECK(a == (NUMBER)15);                                                                    \
        PREFIX##_max_acc(&a, &b);                                                                  \
        CHECK(a == (NUMBER)15);                                                                    \
        PREFIX##_min_acc(&a, &b);                                                                  \
        CHECK(a == (NUMBER)3);                                                                     \
    } while (0)

static void check_accumulators(void) {
    CHECK_ACCUMULATORS(double, qt_dbl);
    CHECK_ACCUMULATORS(saligned_t, qt_int);
    CHECK_ACCUMULATORS(aligned_t, qt_uint);
}

static void check_loop_queues(void) {
    qqloop_handle_t* l = qt_loop_queue_create(CHUNK, 0, 100, 1, count_range, &s_count);
    qt_loop_queue_setchunk(l, 7);
    qt_loop_queue_addworker(l, 0);
    qt_loop_queue_run(l);
    CHECK(taken_count() == 100);
    qt_loop_queue_run_there(qt_loop_queue_create(FACTORED, 0, 100, 1, count_range, &s_count), 0);
    CHECK(taken_count() == 100);
    l = (qqloop_handle_t*)qt_loop_step_queue_create(TIMED, 0, 100, 10, count_one, &s_count);
    qt_loop_queue_run(l);
    CHECK(taken_count() == 10);
}

/* Of 1, 2, 3, 4. */
#define CHECK_REDUCTIONS(NUMBER, QT, QUTIL)                                                        \
    do {                                                                                           \
        NUMBER array[] = {1, 2, 3, 4};                                                             \
        CHECK(QT##_sum(array, 4, 0) == (NUMBER)10 && QUTIL##_sum(array, 4, 0) == (NUMBER)10);      \
        CHECK(QT##_prod(array, 4, 0) == (NUMBER)24 && QUTIL##_mult(array, 4, 0) == (NUMBER)24);    \
        CHECK(QT##_max(array, 4, 1) == (NUMBER)4 && QUTIL##_max(array, 4, 1) == (NUMBER)4);        \
        CHECK(QT##_min(array, 4, 1) == (NUMBER)1 && QUTIL##_min(array, 4, 1) == (NUMBER)1);        \
    } while (0)

static void check_utilities(void) {
    CHECK_REDUCTIONS(double, qt_double, qutil_double);
    CHECK_REDUCTIONS(saligned_t, qt_int, qutil_int);
    CHECK_REDUCTIONS(aligned_t, qt_uint, qutil_uint);
    for (int sort = 0; sort != 3; ++sort) {
        double numbers[] = {3, 1, 2};
        if (sort == 0) qutil_qsort(numbers, 3);
        if (sort == 1) qutil_mergesort(numbers, 3);
        if (sort == 2) qt_qsort(numbers, 3);
        CHECK(numbers[0] < numbers[1] && numbers[1] < numbers[2]);
    }
    aligned_t words[] = {3, 1, 2};
    qutil_aligned_qsort(words, 3);
    CHECK(words[0] == 1 && words[1] == 2 && words[2] == 3);
}

static aligned_t set_one(void* unit) {
    *(aligned_t*)unit = 1;
    return 0;
}
static void add_one(size_t const from, size_t const to, qarray* a, void* arg) {
    (void)arg;
    for (size_t i = from; i != to; ++i) ++*(aligned_t*)qarray_elem(a, i);
}
static void count_units(size_t const from, size_t const to, qarray const* a, void* arg) {
    (void)a;
    count_range(from, to, arg);
}
static void sum_units(size_t const from, size_t const to, qarray* a, void* arg, void* ret) {
    (void)arg;
    aligned_t sum = 0;
    for (size_t i = from; i != to; ++i) sum += *(aligned_t*)qarray_elem_nomigrate(a, i);
    *(aligned_t*)ret = sum;
}
static aligned_t visit(void* a) { return qarray_elem_migrate(a, 1) == qarray_elem_nomigrate(a, 1); }

static void check_arrays(void) {
    qarray* const a = qarray_create(2000, sizeof(aligned_t));
    qarray* const tight = qarray_create_tight(10, 3);
    qarray* const d = qarray_create_configured(2000, sizeof(aligned_t), DIST_RAND, 0, 1);
    CHECK(a != NULL && tight != NULL && tight->unit_size == 3 && d != NULL);
    qarray_iter(a, 0, 2000, set_one);
    qarray_iter_loop(a, 0, 2000, add_one, NULL);
    aligned_t ended = 0, sum = 0;
    qarray_iter_loop_nb(a, 0, 2000, add_one, NULL, &ended);
    qthread_readFF(NULL, &ended);
    qarray_iter_loopaccum(a, 0, 2000, sum_units, NULL, &sum, sizeof sum, qt_uint_add_acc);
    CHECK(sum == 6000);
    qarray_iter_constloop(a, 0, 2000, count_units, &s_count);
    CHECK(taken_count() == 2000);
    qarray_set_shepof(d, 0, 0);
    CHECK(qarray_shepof(d, 0) == 0);
    qarray_dist_like(d, d);
    CHECK(qthread_fork(visit, d, &ended) == QTHREAD_SUCCESS);
    aligned_t arrived = 0;
    qthread_readFF(&arrived, &ended);
    CHECK(arrived == 1);
    qarray_destroy(a);
    qarray_destroy(tight);
    qarray_destroy(d);
}

static void count_pair(void const* a, void const* b) {
    (void)a;
    (void)b;
    count_one(&s_count);
}
static void mark_pair(void const* a, void const* b, void* restrict out) {
    (void)a;
    (void)b;
    *(char*)out = 1;
}
static void add_three(void const* restrict left, void const* restrict corner,
                      void const* restrict below, void* restrict out) {
    *(double*)out = *(double const*)left + *(double const*)corner + *(double const*)below;
}
static void add_three_ints(void const* restrict left, void const* restrict corner,
                           void const* restrict below, void* restrict out) {
    *(int*)out = *(int const*)left + *(int const*)corner + *(int const*)below;
}

static void check_patterns(void) {
    qarray* const a = qarray_create(20, sizeof(double));
    char rows[20][20] = {{0}};
    void* output[20];
    for (int i = 0; i != 20; ++i) output[i] = rows[i];
    qt_allpairs(a, a, count_pair);
    CHECK(taken_count() == 400);
    qt_allpairs_output(a, a, mark_pair, output, 1);
    CHECK(rows[0][0] == 1 && rows[19][19] == 1);
    qarray* const below = qarray_create(20, sizeof(double));
    qt_wavefront_lattice* const lattice = qt_wavefront(a, below, add_three);
    CHECK(lattice != NULL);
    qt_wavefront_print_lattice(lattice);
    qt_wavefront_destroy_lattice(lattice);
    qarray_destroy(a);
    qarray_destroy(below);
    int first[] = {1, 1}, second[] = {1, 0};
    int* columns[] = {first, second};
    qt_basic_wavefront(columns, 2, 2, add_three_ints);
    CHECK(second[1] == 3);
}

int main(void) {
    CHECK(qthread_initialize() == QTHREAD_SUCCESS);
    CHECK(qt_hash64(1) != qt_hash64(2));
    check_queues();
    check_pool();
    check_dictionary();
    check_heaps();
    check_loops();
    check_loops_of_2008();
    check_accumulation();
    check_accumulators();
    check_loop_queues();
    check_utilities();
    check_arrays();
    check_patterns();
    qthread_finalize();
    return 0;
}
