// expect: a pointer means nothing at another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<int*> const&) {}, std::shared_ptr<int*>());
}
