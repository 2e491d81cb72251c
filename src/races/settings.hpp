// SPDX-License-Identifier: Apache-2.0
// What the run time's options say of the search for races.
#pragma once

#include <cstdint>

namespace tulle::races {

struct settings {
    std::uint64_t reports = 20;   // at most
    std::uint64_t exit_code = 66; // of a program in which races were found; 0: its own
};

inline settings s_chosen; // set_settings, before the program begins
[[nodiscard]] inline settings const& chosen_settings() noexcept { return s_chosen; }
inline void set_settings(settings const& chosen) noexcept { s_chosen = chosen; }

} // namespace tulle::races
