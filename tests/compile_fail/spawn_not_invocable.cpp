// expect: no type named|no matching function|no type
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::spawn_detached([](int) {}, "not a number");
    auto thread = tulle::spawn([](int) {}, "not a number");
    thread.join();
}
