// expect: a member of this aggregate is a reference
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

struct refers {
    std::string const& text;
    std::string own;
};

int main() {
    std::string const text;
    tulle::at(
        tulle::place(0), [](refers const&) {}, refers{text, {}});
}
