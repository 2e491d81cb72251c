// SPDX-License-Identifier: Apache-2.0
#include "os/memory_node.hpp"

#include <fstream>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {

namespace {

constexpr unsigned long k_node = 1, k_address = 2; // MPOL_F_NODE, MPOL_F_ADDR of get_mempolicy(2)
constexpr int k_local = 10, k_remote = 20;

// The n-th number of a line.
int nth_number(std::istream& line, int n) {
    int number = 0;
    for (int k = 0; k <= n; ++k) {
        if (!(line >> number)) return -1;
    }
    return number;
}

} // namespace

int node_of_page(void const* address) noexcept {
    int node = -1;
    long const error =
        ::syscall(SYS_get_mempolicy, &node, nullptr, 0UL, address, k_node | k_address);
    return error == 0 ? node : -1;
}

int node_distance(int from, int to, char const* nodes) {
    if (from == to) return k_local;
    if (from < 0 || to < 0) return k_remote;
    std::ifstream table(std::string(nodes) + "/node" + std::to_string(from) + "/distance");
    int const found = nth_number(table, to);
    return found > 0 ? found : k_remote;
}

} // namespace tulle::os
