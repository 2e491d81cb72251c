// expect: a reference or pointer means nothing at the place that it is returned to
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    static int number = 1;
    return *tulle::at(tulle::place(0), [] { return &number; });
}
