// SPDX-License-Identifier: Apache-2.0
// Whether an address is that of a line in shared memory, where objects are (waiting.hpp).
#pragma once

#include "compat/parmacs/waiting.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace tulle::parmacs {

// Some that are, since lines are not given back. relaxed, here and in is_new_line: an entry stands
// for itself.
inline std::array<std::atomic<void const*>, 64> s_known_lines{};

[[nodiscard]] inline std::atomic<void const*>& known_line(void const* address) noexcept {
    return s_known_lines[reinterpret_cast<std::uintptr_t>(address) / k_line % s_known_lines.size()];
}
[[nodiscard]] bool is_new_line(void const* address) noexcept; // asks, and remembers it

[[nodiscard]] inline bool is_line(void const* address) noexcept {
    bool const is_known = known_line(address).load(std::memory_order_relaxed) == address;
    return (is_known && address != nullptr) || is_new_line(address);
}

} // namespace tulle::parmacs
