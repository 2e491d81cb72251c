// expect: template <> struct tulle::kinds_of<Base> : tulle::kinds<First, Second>
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct shape {
    virtual ~shape() = default;
};

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<shape> const&) {}, std::shared_ptr<shape>());
}
