// expect: unused|ignoring return value
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::fork([] { return 1; });
}
