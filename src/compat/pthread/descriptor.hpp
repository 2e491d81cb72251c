// SPDX-License-Identifier: Apache-2.0
// What is at the head of the C library's struct pthread, the descriptor of a thread, since the ABI
// of thread-local variables has it there. Each architecture defines it (arch/.../descriptor.cpp).
#pragma once

#include <cstddef>

namespace tulle::posix {

// Of a descriptor that is zero, of a thread made by one with that descriptor.
void fill_in_head(std::byte* descriptor, std::byte const* of_maker) noexcept;

} // namespace tulle::posix
