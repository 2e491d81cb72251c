// expect: deleted (member )?function .*\basync_at\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::this_activity::async_at(
        1, [](int) {}, 3);
}
