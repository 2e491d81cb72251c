// SPDX-License-Identifier: Apache-2.0
//
// What of the address space is mapped, as /proc/self/maps tells.
#pragma once

#include <cstdint>

namespace tulle::os {

struct address_range {
    std::uintptr_t low = 0, high = 0;
};

/// The readable mapping that holds an address; empty when there is none. No heap, no lock.
[[nodiscard]] address_range mapping_around(std::uintptr_t address) noexcept;

} // namespace tulle::os
