// expect: tulle::kinds_of<Base> names a class that does not derive from Base
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct shape {
    virtual ~shape() = default;
};
struct square final {
    int side;
};
template <> struct tulle::kinds_of<shape> : tulle::kinds<square> {};

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<shape> const&) {}, std::shared_ptr<shape>());
}
