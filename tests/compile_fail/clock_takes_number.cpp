// expect: a number stands where a place is wanted: write tulle::place\(1\) instead of 1
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::finish(
        [](tulle::activities& all) { tulle::clock::make().async_at(all, 1, [](tulle::clock) {}); });
}
