// expect: a member of this aggregate is a pointer or a reference
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <vector>

struct slice {
    int const* first;
    int count;
};

int main() {
    tulle::at(
        tulle::place(0), [](std::vector<slice> const&) {}, std::vector<slice>());
}
