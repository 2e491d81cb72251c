// expect: use of deleted function|call to implicitly-deleted copy constructor
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    auto thread = tulle::spawn([] { return 1; });
    auto copy = thread;
    return copy.join();
}
