// expect: a std::unique_ptr travels with the default deleter only
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <memory>

struct closes {
    void operator()(int* number) const { *number = 0; }
};

int main() {
    tulle::at(
        tulle::place(0), [](std::unique_ptr<int, closes> const&) {},
        std::unique_ptr<int, closes>());
}
