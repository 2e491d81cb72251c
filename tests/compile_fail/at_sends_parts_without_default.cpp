// expect: is made by its default constructor first: give it one, or specialise tulle::wire<T>
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

struct named {
    explicit named(std::string n) : name(std::move(n)) {}
    std::string name;
    template <class Archive> void serialize(Archive& archive) { archive(name); }
};

int main() {
    tulle::at(
        tulle::place(0), [](named const&) {}, named("one"));
}
