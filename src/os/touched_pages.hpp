// SPDX-License-Identifier: Apache-2.0
// Which pages of a large private mapping have something behind them, in memory or swapped out, as
// /proc/self/pagemap tells.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>

namespace tulle::os {

// Calls visit(page, context) for each page of [low, low + bytes), whole pages, that has been
// touched; for all of them where the system does not say. No heap, no lock. Exported for the faces
// of other interfaces.
TULLE_API void for_each_touched_page(std::byte* low, std::size_t bytes,
                                     void (*visit)(std::byte* page, void* context) noexcept,
                                     void* context) noexcept;

} // namespace tulle::os
