// SPDX-License-Identifier: Apache-2.0
// Reads memory of the own process that may not be there any more.
#pragma once

#include <cstdint>
#include <optional>

namespace tulle::os {

// The word at an address, as it is at some moment. Nothing: there is no readable memory, or the
// system does not say.
[[nodiscard]] std::optional<std::uint64_t> careful_read(void const* address) noexcept;

} // namespace tulle::os
