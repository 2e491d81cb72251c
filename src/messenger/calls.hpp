// SPDX-License-Identifier: Apache-2.0
// The place of the caller of a library call.
#pragma once

#include "messenger/endpoint.hpp"

#include <cstdint>

namespace tulle::messenger {

// The place of the calling thread; starts the run time if need be. Null: there is one place.
[[nodiscard]] endpoint* endpoint_of_caller();

// A word of a message that is an address here.
template <class T> T& object_at(std::uint64_t word) noexcept {
    return *reinterpret_cast<T*>(word); // NOLINT(performance-no-int-to-ptr): it came from here
}

} // namespace tulle::messenger
