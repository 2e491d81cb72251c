// expect: a pointer to void does not say what to send
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

int main() {
    tulle::at(
        tulle::place(0), [](std::shared_ptr<void> const&) {}, std::shared_ptr<void>());
}
