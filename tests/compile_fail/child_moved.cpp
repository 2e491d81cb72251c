// expect: use of deleted function|call to deleted constructor
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    auto child = tulle::fork([] { return 1; });
    auto moved = static_cast<decltype(child)&&>(child);
    return moved.join();
}
