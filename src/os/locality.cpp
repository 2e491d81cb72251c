// SPDX-License-Identifier: Apache-2.0
// Files of the kernel's ABI (Documentation/ABI/stable/sysfs-devices-node,
// Documentation/ABI/testing/sysfs-devices-system-cpu). Lists of CPUs are written like
// "0-3,8,10-11".
#include "os/locality.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "os/text_file.hpp"

namespace tulle::os {
namespace {

constexpr int k_cpu_limit = 8192;

// The numbers of a list; what is no list ends it, a file that cannot be read is empty.
std::vector<int> numbers_of(std::string const& file) {
    std::vector<int> numbers;
    std::string const text = read_text(file).value_or("");
    std::string_view rest = text;
    for (bool is_list = true; is_list;) {
        std::optional<int> const first = take_number(rest);
        if (!first) break;
        std::optional<int> last = first;
        if (rest.starts_with('-')) {
            rest.remove_prefix(1);
            last = take_number(rest);
        }
        for (int number = std::max(*first, 0);
             number <= std::min(last.value_or(-1), k_cpu_limit - 1); ++number)
            numbers.push_back(number);
        is_list = rest.starts_with(',');
        rest.remove_prefix(is_list ? 1 : 0);
    }
    return numbers;
}

// 0: there is no such cache.
int level_of(std::string const& cache) {
    std::string const text = read_text(cache + "/level").value_or("");
    std::string_view rest = text;
    return take_number(rest).value_or(0);
}

// The CPUs that share the level-3 cache of one; empty: there is none.
std::vector<int> around_cache_of(std::string const& cpu) {
    std::string const caches = cpu + "/cache/index";
    constexpr int k_usual_index = 3; // after two of level 1 and one of level 2
    int index = k_usual_index;
    int level = level_of(caches + std::to_string(index));
    if (level != 3) level = level_of(caches + std::to_string(index = 0));
    while (level != 0 && level != 3) level = level_of(caches + std::to_string(++index));
    return level == 0 ? std::vector<int>{}
                      : numbers_of(caches + std::to_string(index) + "/shared_cpu_list");
}

// Calls f(index) for those of `cpus` that `found` has an entry for.
template <class F>
void for_each_known(std::vector<locality> const& found, std::vector<int> const& cpus, F const& f) {
    for (int const cpu : cpus) {
        auto const index = static_cast<std::size_t>(cpu);
        if (index < found.size() && found[index] != k_unknown_locality) f(index);
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
    // A cache is named by its first CPU, and asked for once: machines may have hundreds of CPUs.
    for (int const cpu : online) {
        if (found[static_cast<std::size_t>(cpu)].cache != -1) continue;
        std::vector<int> const around = around_cache_of(system + "/cpu/cpu" + std::to_string(cpu));
        for_each_known(found, around,
                       [&](std::size_t index) { found[index].cache = around.front(); });
    }
    std::vector<int> const nodes = numbers_of(system + "/node/online");
    for (int const node : nodes) {
        bool const is_only_one = nodes.size() == 1; // that of all CPUs
        auto const cpus =
            is_only_one ? online
                        : numbers_of(system + "/node/node" + std::to_string(node) + "/cpulist");
        for_each_known(found, cpus, [&](std::size_t index) { found[index].node = node; });
    }
    return found;
}

} // namespace tulle::os
