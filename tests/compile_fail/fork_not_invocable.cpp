// expect: no type named|no matching function|no type
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    auto child = tulle::fork([](int) {});
    child.join();
}
