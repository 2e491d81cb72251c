// SPDX-License-Identifier: Apache-2.0
// Global objects of C++ and its streams, at the last node, where the constructors of the program
// have not run if the nodes share its variables.
#include <cstdlib>
#include <iostream>

#include <tnt.h>

namespace {

struct made_by_a_constructor {
    int value = std::abs(-7);
};
made_by_a_constructor global;

void* prints(void* /*unused*/) {
    std::cout << "node " << tnt_node() << " has " << global.value << std::endl;
    ++global.value;
    return nullptr;
}

} // namespace

int main() {
    tnt_t thread = 0;
    if (tnt_create_at(&thread, tnt_nodes() - 1, &prints, nullptr) != 0) return 2;
    if (tnt_join(thread, nullptr) != 0) return 3;
    std::cout << "main has " << global.value << std::endl;
    return 0;
}
