// expect: arguments of a global fork are copied byte by byte and mean the same at all places
// SPDX-License-Identifier: Apache-2.0

#include <tulle/global_fork.hpp>

int main() {
    int value = 1;
    auto child = tulle::global_fork([](int* p) { return *p; }, &value);
    return child.join();
}
