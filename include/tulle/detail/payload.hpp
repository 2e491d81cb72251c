// SPDX-License-Identifier: Apache-2.0
// Memory of the bytes that travel between places.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tulle::detail {

// How such memory is given up.
struct payload_owner {
    // null: it is of the heap
    void (*give_up)(payload_owner const& self, std::byte* bytes) noexcept = nullptr;
    void* at = nullptr;
    std::uint64_t number = 0;
    int place = 0;
    void operator()(std::byte* bytes) const noexcept {
        if (give_up != nullptr)
            give_up(*this, bytes);
        else
            delete[] bytes;
    }
};
using payload_bytes = std::unique_ptr<std::byte[], payload_owner>;

inline constexpr int k_no_reader = -1;
inline constexpr std::size_t k_small_payload = 4096;

// Room for more than a small payload, for that place to read: in memory that both see, if there is
// some left. Aligned for any object.
// std::bad_alloc
[[nodiscard]] TULLE_API payload_bytes room_for_large(int reader, std::size_t bytes);

[[nodiscard]] inline payload_bytes room_for(int reader, std::size_t bytes) {
    return bytes <= k_small_payload ? payload_bytes(new std::byte[bytes])
                                    : room_for_large(reader, bytes);
}

} // namespace tulle::detail
