// expect: a pointer means nothing at another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <variant>

int main() {
    tulle::at(
        tulle::place(0), [](std::variant<int, int*> const&) {}, std::variant<int, int*>(1));
}
