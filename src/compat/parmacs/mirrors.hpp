// SPDX-License-Identifier: Apache-2.0
// For each line of shared memory at a home on another machine, memory that the processes of this
// machine have in common, and where they keep what the machine has of the object in that line.
#pragma once

#include <cstddef>

namespace tulle::parmacs {

inline constexpr std::size_t k_mirror_bytes = 32;

// By each process, in the order of places, when it knows which others are on this machine.
void join_mirrors(); // remote_error
// Zeros at first, and the same for all processes of this machine. Ends the program if there is no
// memory.
[[nodiscard]] void* mirror_of(void const* line) noexcept;
// Null: nobody of this machine has asked for it.
[[nodiscard]] void* find_mirror(void const* line) noexcept;

} // namespace tulle::parmacs
