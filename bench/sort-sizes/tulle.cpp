// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "sort_sizes.hpp"

int main(int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = sort_sizes_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = sort_sizes_main("tulle", s, [](double* first, double* last) { tulle::parallel_sort(first, last); }); });
    return result;
}
