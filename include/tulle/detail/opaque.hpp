// SPDX-License-Identifier: Apache-2.0
// Storage of a type that only the library knows. All bytes zero is that type's initial state, so
// objects can be static and constant initialised.
#pragma once

#include <cstddef>

namespace tulle::detail {

template <std::size_t Bytes> struct alignas(8) opaque { unsigned char bytes[Bytes]{}; };

} // namespace tulle::detail
