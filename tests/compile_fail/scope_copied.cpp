// expect: use of deleted function|call to deleted constructor
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::scope scope;
    auto copy = scope;
    copy.join();
}
