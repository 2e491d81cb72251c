// expect: what is forked globally has no captures
// SPDX-License-Identifier: Apache-2.0

#include <tulle/global_fork.hpp>

int main() {
    int captured = 1;
    auto child = tulle::global_fork([captured] { return captured; });
    return child.join();
}
