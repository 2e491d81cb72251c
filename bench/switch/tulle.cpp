// SPDX-License-Identifier: Apache-2.0
#include "backend_pair.hpp"
#include "switch.hpp"

int main(int argc, char** argv) {
    using pair = tulle::bench::backend_pair<tulle::arch::backend>;
    return tulle::bench::switch_main<pair>(argc, argv, "tulle");
}
