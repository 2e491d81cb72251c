// expect: what a std::weak_ptr points to is made before its parts
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>
#include <string>

struct named {
    explicit named(std::string n) : name(std::move(n)) {}
    std::string name;
};
template <> struct tulle::wire<named> {
    static void put(wire_writer& out, named const& one) { out.put(one.name); }
    static named get(wire_reader& in) { return named(in.get<std::string>()); }
};

int main() {
    tulle::at(
        tulle::place(0), [](std::weak_ptr<named> const&) {}, std::weak_ptr<named>());
}
