// expect: unused|ignoring return
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::async([] { return 1; });
}
