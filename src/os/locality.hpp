// SPDX-License-Identifier: Apache-2.0
// Which NUMA node and which cache are around each CPU, as the kernel says in /sys.
#pragma once

#include <string>
#include <vector>

namespace tulle::os {

// The NUMA node and the last-level cache around a CPU: CPUs with equal numbers share both. -1:
// unknown, -2: not searched yet.
struct locality {
    int node = -1;
    int cache = -1;
    [[nodiscard]] friend bool operator==(locality const&, locality const&) noexcept = default;
};
inline constexpr locality k_unknown_locality{-2, -2};

// The localities of all CPUs by their number of the operating system; k_unknown_locality for those
// that are not online. Empty where nothing can be read.
[[nodiscard]] std::vector<locality>
find_localities(std::string const& system = "/sys/devices/system");

} // namespace tulle::os
