// SPDX-License-Identifier: Apache-2.0
// qsort() of the C library, as a program calls it for doubles.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace tulle::bench {

inline int compare_doubles(void const* a, void const* b) {
    double const x = *static_cast<double const*>(a);
    double const y = *static_cast<double const*>(b);
    return x < y ? -1 : x > y ? 1 : 0;
}
inline void libc_sort(double* first, double* last) {
    std::qsort(first, static_cast<std::size_t>(last - first), sizeof *first, &compare_doubles);
}

} // namespace tulle::bench
