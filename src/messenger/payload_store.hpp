// SPDX-License-Identifier: Apache-2.0
// Large blocks for payloads that are copied. The heap gives such memory back to the kernel at once,
// and each use would pay for its pages anew: four thousand bytes take longer to get than to copy.
// So some are kept, for the whole process.
#pragma once

#include <tulle/detail/payload.hpp>

#include <cstddef>

namespace tulle::messenger {

// The most bytes of blocks that are kept while nobody uses them.
inline constexpr std::size_t k_most_kept_bytes = std::size_t{32} << 20U;

// Any OS thread may call it. Throws std::bad_alloc.
[[nodiscard]] detail::payload_bytes take_block(std::size_t bytes);
// How many bytes are kept now.
[[nodiscard]] std::size_t kept_bytes() noexcept;

} // namespace tulle::messenger
