// expect: use of deleted function|call to deleted constructor
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::scope scope;
    auto moved = static_cast<tulle::scope&&>(scope);
    moved.join();
}
