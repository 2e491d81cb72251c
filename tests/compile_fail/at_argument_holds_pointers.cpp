// expect: a pointer means nothing at another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <vector>

int main() {
    tulle::at(
        tulle::place(0), [](std::vector<int*> const&) {}, std::vector<int*>());
}
