// SPDX-License-Identifier: Apache-2.0
// Bytes of lines that others may look at, or write bytes of, meanwhile. Without functions of the C
// library, which use vector registers (coherent_host.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// Nobody else writes them; threads of this host may look at them meanwhile.
void fill_bytes(std::uint8_t* first, std::uint8_t value, std::size_t bytes) noexcept;

// Bytes of a word, those whose bits are set in `which`.
void write_bytes(std::byte* to, std::byte const* from, std::uint8_t which) noexcept;

} // namespace tulle::dsm
