// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

long fib(int n) noexcept {
    if (n < 2) return n;
    auto left = tulle::fork([n]() noexcept { return fib(n - 1); });
    long const right = fib(n - 2);
    return left.join() + right;
}
int main() { return fib(20) == 6765 ? 0 : 1; }
