// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/libc_sort.hpp"
#include "sort.hpp"

int main(int argc, char** argv) {
    using namespace tulle::bench;
    return sort_main("libc", sort_settings(argc, argv), libc_sort);
}
