// expect: no matching function
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::parallel_for(0, 10, [](int, int) {});
}
