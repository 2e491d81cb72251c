// expect: objects that derive from this class are deleted by its destructor: make it virtual
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct shape {
    virtual int area() { return 0; }
};
struct square final : shape {
    int side = 0;
};
template <> struct tulle::kinds_of<shape> : tulle::kinds<shape, square> {};

int main() {
    tulle::at(
        tulle::place(0), [](std::unique_ptr<shape> const&) {}, std::unique_ptr<shape>());
}
