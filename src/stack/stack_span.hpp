// SPDX-License-Identifier: Apache-2.0
// The usable bytes of a stack, as the pool hands them out.
#pragma once

#include <cstddef>

namespace tulle::stack {

// The part of a stack above its guard, up to the end; empty when there was no stack.
struct span {
    std::byte* low = nullptr;
    std::size_t size = 0;

    [[nodiscard]] explicit operator bool() const noexcept { return low != nullptr; }
    [[nodiscard]] std::byte* end() const noexcept { return low + size; }
};

// Called for each of a number of stacks.
using span_visitor = void (*)(void* argument, span stack) noexcept;

} // namespace tulle::stack
