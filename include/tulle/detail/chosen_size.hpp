// SPDX-License-Identifier: Apache-2.0
// Sizes that options have, whoever has set them: for the faces of other libraries, which promise so
// many bytes at least.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstdint>

namespace tulle::detail {

enum class size_option {
    stack_size,    // of a thread that asks for none of its own
    global_memory, // of all places together
};

// In bytes; of the run time that runs, or of the next start.
[[nodiscard]] TULLE_API std::uint64_t chosen_size(size_option which) noexcept;

} // namespace tulle::detail
