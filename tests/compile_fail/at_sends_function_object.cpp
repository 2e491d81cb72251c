// expect: a std::function does not travel: send a lambda without captures
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <functional>

int main() {
    tulle::at(
        tulle::place(0), [](std::function<int()> const& f) { return f(); },
        std::function<int()>([] { return 1; }));
}
