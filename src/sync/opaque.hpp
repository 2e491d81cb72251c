// SPDX-License-Identifier: Apache-2.0
// Turns the storage in a public header into the type that lives in it.
#pragma once

#include <tulle/detail/opaque.hpp>

#include <cstddef>
#include <type_traits>

namespace tulle::sync {

// T is valid when all its bytes are zero, and needs no destructor.
template <class T, std::size_t Bytes>
[[nodiscard]] T& open(detail::opaque<Bytes>& storage) noexcept {
    static_assert(sizeof(T) <= Bytes && alignof(T) <= alignof(detail::opaque<Bytes>));
    static_assert(std::is_trivially_destructible_v<T> && std::is_standard_layout_v<T>);
    return *reinterpret_cast<T*>(storage.bytes);
}
template <class T, std::size_t Bytes>
[[nodiscard]] T const& open(detail::opaque<Bytes> const& storage) noexcept {
    return open<T>(const_cast<detail::opaque<Bytes>&>(storage));
}

} // namespace tulle::sync
