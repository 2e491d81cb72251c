// SPDX-License-Identifier: Apache-2.0
// Three threads write their letters three times each; prints the order. There are 1680.
#include <tulle/tulle.hpp>

#include <cstdio>
#include <string>

int main() {
    std::string order;
    auto const writer = [&order](char letter) {
        return [&order, letter] {
            for (int k = 0; k < 3; ++k) {
                order += letter;
                tulle::schedule_point();
            }
        };
    };
    auto a = tulle::spawn(writer('a'));
    auto b = tulle::spawn(writer('b'));
    auto c = tulle::fork(writer('c'));
    c.join();
    a.join();
    b.join();
    std::puts(order.c_str());
    return 0;
}
