// expect: use of deleted function|overload resolution selected deleted operator
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    auto const one = [] { return 1; };
    auto a = tulle::fork(one);
    auto b = tulle::fork(one);
    a = static_cast<decltype(b)&&>(b);
    return a.join();
}
