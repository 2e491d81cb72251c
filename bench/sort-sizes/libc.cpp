// SPDX-License-Identifier: Apache-2.0
#include "sort_sizes.hpp"

namespace {

int compare(void const* a, void const* b) {
    double const x = *static_cast<double const*>(a);
    double const y = *static_cast<double const*>(b);
    return x < y ? -1 : x > y ? 1 : 0;
}
void sort(double* first, double* last) { std::qsort(first, static_cast<std::size_t>(last - first), sizeof *first, &compare); }

} // namespace

int main(int argc, char** argv) {
    using namespace tulle::bench;
    return sort_sizes_main("libc", sort_sizes_settings(argc, argv), sort);
}
