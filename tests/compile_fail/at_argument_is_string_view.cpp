// expect: text as a
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string_view>

int main() {
    tulle::at(
        tulle::place(0), [](std::string_view) {}, std::string_view("text"));
}
