// SPDX-License-Identifier: Apache-2.0
// tulle::parallel_sort() partitions by blocks of a page, as the paper describes it for
// qutil_qsort().
#include "compat/qthread/arguments.hpp"

#include <qthread/qloop.h>
#include <qthread/qutil.h>

#include <tulle/parallel_sort.hpp>

#include <new>

using tulle::compat::is_array;

void qutil_qsort(double* array, size_t length) {
    if (is_array(array, length)) tulle::parallel_sort(array, array + length);
}
void qt_qsort(double* array, size_t const length) { qutil_qsort(array, length); }

void qutil_aligned_qsort(aligned_t* array, size_t length) {
    if (is_array(array, length)) tulle::parallel_sort(array, array + length);
}

// Without memory for the mergesort nothing has been moved.
void qutil_mergesort(double* array, size_t length) try {
    if (is_array(array, length)) tulle::parallel_stable_sort(array, array + length);
} catch (std::bad_alloc const&) {
    qutil_qsort(array, length);
}
