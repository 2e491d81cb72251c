// SPDX-License-Identifier: Apache-2.0
// Functions and bytes of C that travel.
#pragma once

#include "messenger/image.hpp"

#include <tulle/detail/remote.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

namespace tulle::capi {

using messenger::code_name;
using messenger::code_of;
using messenger::name_of;
using byte_block = std::vector<std::byte>; // aligned for any object

// As tulle::view, where it is read aligned for any object.
struct block_view {
    block_view() noexcept = default;
    block_view(void const* first, std::size_t count) noexcept
        : bytes(count != 0 ? first : nullptr), size(count) {}
    explicit block_view(byte_block const& block) noexcept
        : block_view(block.data(), block.size()) {}
    void const* bytes = nullptr;
    std::size_t size = 0;
};

[[nodiscard]] inline bool is_place_number(int index) {
    return index >= 0 && index < detail::place_count() + detail::memory_place_count();
}
[[nodiscard]] inline bool is_block(void const* bytes, std::size_t size) noexcept {
    return size <= static_cast<std::size_t>(PTRDIFF_MAX) && (bytes != nullptr || size == 0);
}
[[nodiscard]] inline byte_block copy_of(void const* bytes, std::size_t size) {
    auto const* const first = static_cast<std::byte const*>(bytes);
    return {first, first + size};
}
inline void copy_bytes(void* to, void const* from, std::size_t size) noexcept {
    if (size != 0) std::memcpy(to, from, size);
}

template <class F> [[nodiscard]] code_name name_of_function(F* function) noexcept {
    return name_of(reinterpret_cast<void const*>(function));
}
// Throws std::system_error: this place does not have it.
template <class F> [[nodiscard]] F* function_of(code_name name) {
    void* const code = code_of(name);
    if (code == nullptr)
        throw std::system_error(ENOENT, std::generic_category(),
                                "tulle: a function that was sent is not here");
    return reinterpret_cast<F*>(code);
}
// Why these cannot be sent; 0: they can.
template <class F>
[[nodiscard]] int refusal_of(F* function, void const* argument, std::size_t size) noexcept {
    if (function == nullptr || !is_block(argument, size)) return -EINVAL;
    return name_of_function(function) != 0 ? 0 : -ENOENT;
}

} // namespace tulle::capi

template <> struct tulle::wire<tulle::capi::block_view> {
    static void put(wire_writer& out, capi::block_view const& all) {
        out.put(std::uint64_t{all.size});
        out.align(wire_writer::k_alignment);
        out.put_bytes(all.bytes, all.size);
    }
    static capi::block_view get(wire_reader& in) {
        std::size_t const size = in.get_count(1);
        in.align(wire_writer::k_alignment);
        return {in.get_bytes(size), size};
    }
};
