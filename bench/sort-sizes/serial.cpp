// SPDX-License-Identifier: Apache-2.0
#include "sort_sizes.hpp"

int main(int argc, char** argv) {
    using namespace tulle::bench;
    return sort_sizes_main("serial", sort_sizes_settings(argc, argv), [](double* first, double* last) { std::sort(first, last); });
}
