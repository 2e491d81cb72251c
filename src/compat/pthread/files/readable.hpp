// SPDX-License-Identifier: Apache-2.0
// Whether memory that a program names is there to be read. The kernel answers EFAULT where it is
// not: what the library reads before it makes the call must not end the program instead.
#pragma once

#include <cstddef>

namespace tulle::posix {

// Where the system does not tell, it is taken to be, and so is a page that was found there before.
[[nodiscard]] bool is_readable(void const* memory, std::size_t bytes) noexcept;

} // namespace tulle::posix
