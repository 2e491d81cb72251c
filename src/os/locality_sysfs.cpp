// SPDX-License-Identifier: Apache-2.0
//
// Files of the kernel's ABI (Documentation/ABI/stable/sysfs-devices-node, Documentation/ABI/testing/sysfs-devices-system-cpu). Lists of
// CPUs look like "0-3,8,10-11".
#include "os/locality.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace tulle::os {
namespace {

constexpr int k_cpu_limit = 8192;

/// Calls f(number) for each number of a list; a file that is missing, empty or no list ends it.
template <class F> void for_each_of(std::string const& list, F const& f) {
    std::ifstream file(list);
    char between = ',';
    for (int first = 0; between == ',' && file >> first;) {
        int last = first;
        if (file.peek() == '-') {
            file.get();
            file >> last;
        }
        for (int number = std::max(first, 0); number <= std::min(last, k_cpu_limit - 1); ++number) f(number);
        if (!file.get(between)) return;
    }
}

/// A level-3 cache is named by its first CPU; -1: there is none.
int cache_of(std::string const& cpu) {
    for (int index = 0;; ++index) {
        std::string const cache = cpu + "/cache/index" + std::to_string(index);
        int level = 0;
        if (!(std::ifstream(cache + "/level") >> level)) return -1;
        if (level == 3) {
            int first = -1;
            for_each_of(cache + "/shared_cpu_list", [&first](int number) { first = first < 0 ? number : first; });
            return first;
        }
    }
}

} // namespace

std::vector<locality> sysfs_localities(std::string const& system) {
    std::vector<locality> found;
    for_each_of(system + "/cpu/online", [&](int cpu) {
        found.resize(std::max(found.size(), static_cast<std::size_t>(cpu) + 1), k_unknown_locality);
        found[static_cast<std::size_t>(cpu)] = {-1, cache_of(system + "/cpu/cpu" + std::to_string(cpu))};
    });
    for_each_of(system + "/node/online", [&](int node) {
        for_each_of(system + "/node/node" + std::to_string(node) + "/cpulist", [&](int cpu) {
            if (static_cast<std::size_t>(cpu) < found.size()) found[static_cast<std::size_t>(cpu)].node = node;
        });
    });
    return found;
}

} // namespace tulle::os
