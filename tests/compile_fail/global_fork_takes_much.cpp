// expect: the arguments of a global fork take at most 96 bytes
// SPDX-License-Identifier: Apache-2.0

#include <tulle/global_fork.hpp>

struct large {
    long words[13];
};

int main() {
    auto child =
        tulle::global_fork([](large all) { return static_cast<int>(all.words[0]); }, large{});
    return child.join();
}
