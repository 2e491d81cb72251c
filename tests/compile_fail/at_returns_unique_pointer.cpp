// expect: this type does not travel
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

int main() {
    return *tulle::at(tulle::place(0), [] { return std::make_unique<int>(1); });
}
