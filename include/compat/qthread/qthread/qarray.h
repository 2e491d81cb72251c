/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays in segments, each of which belongs to a shepherd: loops over them run each segment there.
 * Contexts: any thread of the process,
 * from qthread_initialize() on. Memory ordering of the loops: as qloop.h. */
#ifndef QTHREAD_QARRAY_H
#define QTHREAD_QARRAY_H

#include "macros.h"
#include "qloop.h"

#include <stddef.h>
#include <stdint.h>

Q_STARTCXX

/* Given to qarray_create_configured(), and (the first four) in the field dist_type. */
typedef enum {
    FIXED_HASH =
        0, /* segment i belongs to shepherd i modulo their number at the creation; the default */
    FIXED_FIELDS, /* each shepherd has one row of neighbouring segments */
    ALL_SAME,     /* all belong to one shepherd; as ALL_LOCAL */
    DIST,         /* each segment says to whom it belongs, and that may change; as DIST_RAND */
    DIST_STRIPES, /* DIST, at first as FIXED_HASH */
    DIST_FIELDS,  /* at first as FIXED_FIELDS */
    DIST_RAND,    /* at first by chance */
    DIST_LEAST,   /* at first to whoever has the fewest segments of all arrays */
    ALL_LOCAL,    /* ALL_SAME: to the caller's shepherd */
    ALL_RAND,     /* to one chosen by chance */
    ALL_LEAST     /* to the one that has the fewest segments of all arrays */
} distribution_t;

typedef struct qarray_s {
    size_t unit_size;
    size_t count;
    size_t segment_size;  /* units in a segment */
    size_t segment_bytes; /* at least unit_size * segment_size */
    char* base_ptr;
    distribution_t dist_type;
    union {
        qthread_shepherd_id_t dist_shep; /* ALL_SAME */
        struct { /* FIXED_FIELDS: the first `extras` shepherds have one segment more */
            size_t segs_per_shep;
            size_t extras;
        } stripes;
    } dist_specific;
} qarray;

typedef void (*qa_loop_f)(size_t const startat, size_t const stopat, qarray* array, void* arg);
typedef void (*qa_loopr_f)(size_t const startat, size_t const stopat, qarray* array, void* arg,
                           void* ret);
typedef void (*qa_cloop_f)(size_t const startat, size_t const stopat, qarray const* array,
                           void* arg);

/* `count` units of zeros. Units take `unit_size` bytes, rounded up to 8; the tight form does not
 * round. NULL: a count or size of 0, no memory. With `seg_pages` a segment has that many pages; 0:
 * 16, or as many as a unit needs; NULL: also too few for a unit. */
qarray* qarray_create(size_t const count, size_t const unit_size);
qarray* qarray_create_tight(size_t const count, size_t const unit_size);
qarray* qarray_create_configured(size_t const count, size_t const unit_size, distribution_t const d,
                                 char const tight, int const seg_pages);
void qarray_destroy(qarray* a);

/* For units [startat, stopat), at most up to the end of the array: func(address) for each, or
 * func(from, to, a, arg) for the units of each segment, by its shepherd. They return when all has
 * ended; the _nb form returns at once, and fills the word at `ret`. */
void qarray_iter(qarray* a, size_t const startat, size_t const stopat, qthread_f func);
void qarray_iter_loop(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                      void* arg);
void qarray_iter_loop_nb(qarray* a, size_t const startat, size_t const stopat, qa_loop_f func,
                         void* arg, aligned_t* ret);
void qarray_iter_constloop(qarray const* a, size_t const startat, size_t const stopat,
                           qa_cloop_f func, void* arg);
/* func(from, to, a, arg, ret) stores `retsize` bytes at ret. One result goes to `ret`, the others
 * follow by acc(ret, other). */
void qarray_iter_loopaccum(qarray* a, size_t const startat, size_t const stopat, qa_loopr_f func,
                           void* arg, void* ret, size_t const retsize, qt_accum_f acc);

/* Gives the segment of unit i (DIST), or all (ALL_SAME), to another shepherd; nothing with
 * FIXED_HASH, FIXED_FIELDS, or without such a unit or shepherd. */
void qarray_set_shepof(qarray* a, size_t const i, qthread_shepherd_id_t shep);
/* NO_SHEPHERD: no such unit. */
qthread_shepherd_id_t qarray_shepof(qarray const* a, size_t const index);
/* As far as `mod` allows it, its segments go where those of `ref` with the same number are. */
void qarray_dist_like(qarray const* ref, qarray* mod);

#define qarray_elem(a, i) qarray_elem_nomigrate(a, i)
/* The address of a unit; NULL: there is none. The caller, a qthread, goes to its shepherd. */
void* qarray_elem_migrate(qarray const* a, size_t const index);

static inline void* qarray_elem_nomigrate(qarray const* a, size_t const index) {
    if (a == NULL || index >= a->count) return NULL;
    return a->base_ptr + index / a->segment_size * a->segment_bytes +
           index % a->segment_size * a->unit_size;
}

Q_ENDCXX

#endif
