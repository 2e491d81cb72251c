// expect: a member of this aggregate is a pointer or a reference
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <optional>

struct inner {
    char const* texts[2];
};
struct outer {
    int number;
    std::optional<inner> maybe;
};

int main() {
    tulle::at(
        tulle::place(0), [](outer const&) {}, outer{1, {}});
}
