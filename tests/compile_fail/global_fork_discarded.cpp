// expect: unused|ignoring return value|a child that is dropped
// SPDX-License-Identifier: Apache-2.0

#include <tulle/global_fork.hpp>

int main() {
    tulle::global_fork([](int n) { return n; }, 1);
}
