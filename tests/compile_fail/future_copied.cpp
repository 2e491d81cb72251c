// expect: use of deleted function|call to implicitly-deleted copy constructor
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    auto future = tulle::make_ready_future(1);
    auto copy = future;
    return copy.get();
}
