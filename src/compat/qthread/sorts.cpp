// SPDX-License-Identifier: Apache-2.0
// tulle::parallel_sort() partitions by blocks of a page, as the paper describes it for
// qutil_qsort().
#include <qthread/qloop.h>
#include <qthread/qutil.h>

#include <tulle/parallel_sort.hpp>

#include <new>

void qutil_qsort(double* array, size_t length) {
    if (array != nullptr) tulle::parallel_sort(array, array + length);
}
void qt_qsort(double* array, size_t const length) { qutil_qsort(array, length); }

void qutil_aligned_qsort(aligned_t* array, size_t length) {
    if (array != nullptr) tulle::parallel_sort(array, array + length);
}

// Without memory for the mergesort nothing has been moved.
void qutil_mergesort(double* array, size_t length) try {
    if (array != nullptr) tulle::parallel_stable_sort(array, array + length);
} catch (std::bad_alloc const&) {
    qutil_qsort(array, length);
}
