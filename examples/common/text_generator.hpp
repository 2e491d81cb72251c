// SPDX-License-Identifier: Apache-2.0
//
// Makes text to sort, much like what people sort: lines of words, lines of a server's log with long
// common beginnings, lines that start with a hexadecimal number; 8 to 120 bytes long, some of them
// twice. The same for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace examples {

// Fills block number `index` of the text with whole lines.
void generate_text(std::span<char> block, std::uint64_t seed, std::uint64_t index);

} // namespace examples
