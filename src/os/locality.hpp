// SPDX-License-Identifier: Apache-2.0
//
// Which NUMA node and which cache are around each CPU, found out by hwloc or, in a build without it, read from /sys. Chosen here.
#pragma once

#include <string>
#include <vector>

namespace tulle::os {

/// The NUMA node and the last-level cache around a CPU: CPUs with equal numbers share both. -1: unknown, -2: not looked for.
struct locality {
    int node = -1;
    int cache = -1;
    [[nodiscard]] friend bool operator==(locality const&, locality const&) noexcept = default;
};
inline constexpr locality k_unknown_locality{-2, -2};

/// By number of the operating system; k_unknown_locality for those that do not exist or that this process may not see. Empty where
/// nothing can be read.
[[nodiscard]] std::vector<locality> hwloc_localities();
[[nodiscard]] std::vector<locality> sysfs_localities(std::string const& system = "/sys/devices/system");

#if defined(TULLE_HAS_HWLOC)
[[nodiscard]] inline std::vector<locality> find_localities() { return hwloc_localities(); }
#else
[[nodiscard]] inline std::vector<locality> find_localities() { return sysfs_localities(); }
#endif

} // namespace tulle::os
