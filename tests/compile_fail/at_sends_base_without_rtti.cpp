// expect: objects of classes with virtual functions travel .* with run-time type information
// options: -fno-rtti
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct shape {
    virtual ~shape() = default;
};
struct circle : shape {};
template <> struct tulle::kinds_of<shape> : tulle::kinds<shape, circle> {};

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<shape> const&) {}, std::shared_ptr<shape>());
}
