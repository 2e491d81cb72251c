// expect: a pointer means nothing at another place
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    int number = 1;
    return tulle::at(
        tulle::place(0), [](int* p) { return *p; }, &number);
}
