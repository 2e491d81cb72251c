// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/global_memory.hpp>. They throw what that header says.
#pragma once

#include <tulle/detail/visibility.h>

#include <cstddef>
#include <cstdint>

namespace tulle::detail {

// Where loads and stores reach all of it, or null. `alignment`: that the address must have.
[[nodiscard]] TULLE_API void* reach_global(std::uint64_t address, std::size_t bytes,
                                           std::size_t alignment);
TULLE_API void read_global(void* to, std::uint64_t from, std::size_t bytes);
TULLE_API void write_global(void const* from, std::uint64_t to, std::size_t bytes);
// The same calls for a thread of another place than the one whose memory it is.
class memory_of_place;
[[nodiscard]] TULLE_API memory_of_place* memory_here();
TULLE_API void read_global(memory_of_place* by, void* to, std::uint64_t from, std::size_t bytes);
TULLE_API void write_global(memory_of_place* by, void const* from, std::uint64_t to,
                            std::size_t bytes);

enum class global_change : std::uint8_t { add, exchange, compare_exchange };
// By messages. What was there before.
TULLE_API std::uint64_t change_global(global_change operation, std::uint64_t address,
                                      unsigned width, std::uint64_t value, std::uint64_t expected);

// At the place of that number; negative: anywhere.
[[nodiscard]] TULLE_API std::uint64_t allocate_global(std::size_t bytes, int place, bool cleared);
[[nodiscard]] TULLE_API std::uint64_t reallocate_global(std::uint64_t address, std::size_t bytes);
TULLE_API void free_global(std::uint64_t address);
[[nodiscard]] TULLE_API std::size_t size_of_global(std::uint64_t address);
[[nodiscard]] TULLE_API int place_of_global(std::uint64_t address);

// bytes = count * size, or throws out_of_global_memory.
[[nodiscard]] TULLE_API std::size_t bytes_of_global(std::size_t count, std::size_t size);

} // namespace tulle::detail
