// SPDX-License-Identifier: Apache-2.0
// tulle::parallel_sort() partitions by blocks of a page, as the paper describes it for
// qutil_qsort().
#include "compat/qthread/library/arguments.hpp"

#include <qthread/qloop.h>
#include <qthread/qutil.h>

#include <tulle/parallel_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>

using tulle::compat::is_array;

namespace {

// One after the other where there is no memory for threads: no element is lost before.
template <class T> void sort(T* array, std::size_t length) noexcept {
    if (!is_array(array, length)) return;
    try {
        tulle::parallel_sort(array, array + length);
    } catch (std::exception const&) {
        std::sort(array, array + length);
    }
}

} // namespace

void qutil_qsort(double* array, size_t length) { sort(array, length); }
void qt_qsort(double* array, size_t const length) { qutil_qsort(array, length); }

void qutil_aligned_qsort(aligned_t* array, size_t length) { sort(array, length); }

// Without memory for the mergesort nothing has been moved.
void qutil_mergesort(double* array, size_t length) try {
    if (is_array(array, length)) tulle::parallel_stable_sort(array, array + length);
} catch (std::exception const&) {
    qutil_qsort(array, length);
}
