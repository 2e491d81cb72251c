/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and the like of arrays, and sorts, by all workers. Contexts: any thread of the process, from
 * qthread_initialize() on. */
#ifndef QTHREAD_QUTIL_H
#define QTHREAD_QUTIL_H

#include "qthread.h"

Q_STARTCXX

/* With `checkfeb` each element is waited for until it is full. Of no elements: 0, a product 1. Sums
 * of floating-point numbers are the same in every run. */
double qutil_double_sum(double const* array, size_t length, int checkfeb);
double qutil_double_mult(double const* array, size_t length, int checkfeb);
double qutil_double_max(double const* array, size_t length, int checkfeb);
double qutil_double_min(double const* array, size_t length, int checkfeb);
aligned_t qutil_uint_sum(aligned_t const* array, size_t length, int checkfeb);
aligned_t qutil_uint_mult(aligned_t const* array, size_t length, int checkfeb);
aligned_t qutil_uint_max(aligned_t const* array, size_t length, int checkfeb);
aligned_t qutil_uint_min(aligned_t const* array, size_t length, int checkfeb);
saligned_t qutil_int_sum(saligned_t const* array, size_t length, int checkfeb);
saligned_t qutil_int_mult(saligned_t const* array, size_t length, int checkfeb);
saligned_t qutil_int_max(saligned_t const* array, size_t length, int checkfeb);
saligned_t qutil_int_min(saligned_t const* array, size_t length, int checkfeb);

/* In place, ascending. The mergesort needs memory for as many elements again; without it, it is a
 * quicksort. */
void qutil_mergesort(double* array, size_t length);
/* By blocks of a page, as in section 5.1 of the paper of 2008, so that no two threads write to one
 * cache line. */
void qutil_qsort(double* array, size_t length);
void qutil_aligned_qsort(aligned_t* array, size_t length);

Q_ENDCXX

#endif
