// SPDX-License-Identifier: Apache-2.0
// What of the address space is mapped, as /proc/self/maps tells.
#pragma once

#include <cstdint>
#include <vector>

namespace tulle::os {

struct address_range {
    std::uintptr_t low = 0, high = 0;
    [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
        return address >= low && address < high;
    }
};

// The readable mapping that holds an address; empty when there is none. No heap, no lock.
[[nodiscard]] address_range mapping_around(std::uintptr_t address) noexcept;

// What a process, 0 for this one, has at an address that it can read.
struct named_range {
    address_range range; // empty: nothing
    bool is_own = false; // it can be written to, and no other process sees that
    char name[256] = ""; // of a file, or as "[heap]"; empty: of none
};
// No heap, no lock. Of another process of this user.
[[nodiscard]] named_range mapping_of(int process, std::uintptr_t address) noexcept;

// Those that are readable and not shared with other processes, in ascending order. Throws
// std::bad_alloc.
[[nodiscard]] std::vector<address_range> private_mappings();

} // namespace tulle::os
