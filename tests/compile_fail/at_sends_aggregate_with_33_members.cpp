// expect: an aggregate travels by its members if these travel and it has at most 32
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <string>

struct large {
    std::string a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
    int a2, b2, c2, d2, e2, f2, g2, h2, i2, j2, k2, l2, m2, n2, o2, p2;
};

int main() {
    tulle::at(
        tulle::place(0), [](large const&) {}, large());
}
