// expect: this type does not travel: specialise tulle::wire<T>, or give it a member
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

struct base {
    std::string text;
};
struct derived : base {
    int number = 0;
};

int main() {
    tulle::at(
        tulle::place(0), [](derived const&) {}, derived());
}
