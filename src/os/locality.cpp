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

/// The CPUs of a list.
std::vector<int> numbers_of(std::string const& list) {
    std::vector<int> numbers;
    for_each_of(list, [&numbers](int number) { numbers.push_back(number); });
    return numbers;
}

/// The CPUs that share the level-3 cache of one; empty: there is none.
std::vector<int> around_cache_of(std::string const& cpu) {
    for (int index = 0;; ++index) {
        std::string const cache = cpu + "/cache/index" + std::to_string(index);
        int level = 0;
        if (!(std::ifstream(cache + "/level") >> level)) return {};
        if (level == 3) return numbers_of(cache + "/shared_cpu_list");
    }
}

/// Calls f(place) for those of `cpus` that have a place in `found`.
template <class F> void for_each_known(std::vector<locality> const& found, std::vector<int> const& cpus, F const& f) {
    for (int const cpu : cpus) {
        auto const place = static_cast<std::size_t>(cpu);
        if (place < found.size() && found[place] != k_unknown_locality) f(place);
    }
}

} // namespace

std::vector<locality> find_localities(std::string const& system) {
    std::vector<int> const online = numbers_of(system + "/cpu/online");
    std::vector<locality> found;
    for (int const cpu : online) {
        found.resize(std::max(found.size(), static_cast<std::size_t>(cpu) + 1), k_unknown_locality);
        found[static_cast<std::size_t>(cpu)] = locality{};
    }
    for (int const cpu : online) { // a cache is named by its first CPU, and asked for once: machines may have hundreds of CPUs
        if (found[static_cast<std::size_t>(cpu)].cache != -1) continue;
        std::vector<int> const around = around_cache_of(system + "/cpu/cpu" + std::to_string(cpu));
        for_each_known(found, around, [&](std::size_t place) { found[place].cache = around.front(); });
    }
    for_each_of(system + "/node/online", [&](int node) {
        auto const cpus = numbers_of(system + "/node/node" + std::to_string(node) + "/cpulist");
        for_each_known(found, cpus, [&](std::size_t place) { found[place].node = node; });
    });
    return found;
}

} // namespace tulle::os
