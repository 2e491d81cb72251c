// SPDX-License-Identifier: Apache-2.0
// What is done with lines of which other hosts may write bytes meanwhile. Only bytes that differ
// are written. Without functions of the C library, which use vector registers (coherent_host.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// Of this host alone, whose threads may look at them meanwhile.
void fill_bytes(std::uint8_t* first, std::uint8_t value, std::size_t bytes) noexcept;

// Bytes of a word, those whose bits are set in `which`.
void write_bytes(std::byte* to, std::byte const* from, std::uint8_t which) noexcept;

// Bytes of `from` that differ from the twin go to both, the same ones to each, whatever is written
// to `from` meanwhile. False: there are none.
[[nodiscard]] bool copy_differing_too(std::byte* to, std::byte const* from, std::byte* twin,
                                      std::size_t bytes) noexcept;

} // namespace tulle::dsm
