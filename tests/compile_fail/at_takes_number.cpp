// expect: deleted (member )?function .*\bat\b
// SPDX-License-Identifier: Apache-2.0

#include <tulle/tulle.hpp>

int main() {
    return tulle::at(1, [] { return 0; });
}
