// expect: deleted (member )?function .*\basync_at\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    tulle::finish(
        [](tulle::activities& all) { tulle::clock::make().async_at(all, 1, [](tulle::clock) {}); });
}
