// expect: a pointer means nothing at another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <functional>

int main() {
    int number = 1;
    tulle::at(
        tulle::place(0), [](int& n) { ++n; }, std::ref(number));
}
