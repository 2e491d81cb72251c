// SPDX-License-Identifier: Apache-2.0
// What the run time's options say of coherent memory.
#pragma once

#include <cstdint>

namespace tulle::dsm {

struct settings {
    bool is_private = false;            // each place has a copy of its own
    bool by_pages = false;              // also of programs without checks
    std::uint64_t unit_bytes = 256;     // as chosen
    std::uint64_t large_unit_bytes = 0; // of large allocations; 0: the same
};

[[nodiscard]] settings const& chosen_settings() noexcept;
void set_settings(settings const& chosen) noexcept;

} // namespace tulle::dsm
