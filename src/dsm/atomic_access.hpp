// SPDX-License-Identifier: Apache-2.0
// Atomic accesses as instrumented code asks for them (tulle/coherent_abi.h), done in place.
#pragma once

#include <cstdint>

namespace tulle::dsm {

// `action` as for tulle_coherent_atomic; returns what was there before. The address must be a
// multiple of the size.
std::uint64_t access_atomically(std::uint64_t address, std::uint64_t operand,
                                std::uint64_t expected, std::uint32_t action) noexcept;

} // namespace tulle::dsm
