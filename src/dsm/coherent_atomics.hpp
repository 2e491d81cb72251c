// SPDX-License-Identifier: Apache-2.0
// Atomic accesses where others may have copies: they are done in the master, and programs
// synchronise by them.
#pragma once

#include <cstdint>

namespace tulle::dsm {

// As access_atomically, which does it where nobody has copies. Releases before an access that does
// so, and acquires after one.
std::uint64_t access_coherently(std::uint64_t address, std::uint64_t operand,
                                std::uint64_t expected, std::uint32_t action) noexcept;

} // namespace tulle::dsm
