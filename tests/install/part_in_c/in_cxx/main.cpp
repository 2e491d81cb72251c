// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

int main() {
    auto const answer = tulle::spawn([] { return 0; });
    return 0;
}
