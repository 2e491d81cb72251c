// expect: a view is gone when the call has returned
// SPDX-License-Identifier: Apache-2.0
#include <tulle/place.hpp>

int main() {
    double const number = 1;
    tulle::at(
        tulle::place(0), [](tulle::view<double> got) { return got; },
        tulle::view<double>(&number, 1));
}
