// SPDX-License-Identifier: Apache-2.0
// Without reports of deadlocks.
#include "waits.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
    setenv("TULLE_DEADLOCK", "off", 1);
    return tulle::bench::waits_main(argc, argv, "tulle_unwatched");
}
