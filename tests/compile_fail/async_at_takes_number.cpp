// expect: deleted (member )?function .*\basync_at\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    int const number = 1;
    auto const later = tulle::async_at(
        number, [](int) {}, 3);
}
