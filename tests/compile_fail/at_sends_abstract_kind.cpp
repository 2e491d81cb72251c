// expect: tulle::kinds_of names an abstract class
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct shape {
    virtual ~shape() = default;
    virtual int area() = 0;
};
template <> struct tulle::kinds_of<shape> : tulle::kinds<shape> {};

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<shape> const&) {}, std::shared_ptr<shape>());
}
