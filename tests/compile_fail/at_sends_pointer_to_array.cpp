// expect: a pointer to an array does not say how many there are: send a std::vector
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

int main() {
    tulle::at(
        tulle::place(0), [](std::unique_ptr<int[]> const&) {}, std::make_unique<int[]>(3));
}
