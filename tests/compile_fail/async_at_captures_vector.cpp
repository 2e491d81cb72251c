// expect: a callable travels to another place if it has no captures
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

#include <vector>

int main() {
    std::vector<int> const numbers{1, 2};
    tulle::finish([&](tulle::activities& all) { all.async_at(tulle::place(0), [numbers] {}); });
}
