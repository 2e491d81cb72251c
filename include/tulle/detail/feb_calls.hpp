// SPDX-License-Identifier: Apache-2.0
// The library's functions on full/empty words of one size: std::uint8_t, ..., std::uint64_t.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/feb_operation.hpp>
#include <tulle/detail/limit.hpp>

#include <cstddef>
#include <cstdint>

namespace tulle::detail {

// Those that may empty a word throw std::bad_alloc, with nothing done, where the table has no
// memory left to note it.
template <class Word> struct feb_calls {
    [[nodiscard]] TULLE_API static Word read_ff(Word* word) noexcept;
    [[nodiscard]] TULLE_API static Word read_fe(Word* word);
    TULLE_API static void write_ef(Word* word, Word value) noexcept;
    TULLE_API static void fill(Word* word) noexcept;
    TULLE_API static void empty(Word* word);
    // Any operation. False: the state was not the right one until the limit was reached; nothing
    // was done.
    TULLE_API static bool apply(feb_operation performed, Word* word, Word& value, limit until);
};

extern template struct feb_calls<std::uint8_t>;
extern template struct feb_calls<std::uint16_t>;
extern template struct feb_calls<std::uint32_t>;
extern template struct feb_calls<std::uint64_t>;

[[nodiscard]] TULLE_API bool feb_is_full(void const* word) noexcept;
// Writes the numbers of at most `capacity` waiting threads; how many wait.
[[nodiscard]] TULLE_API std::size_t feb_waiting(void const* word, std::uint64_t* ids,
                                                std::size_t capacity) noexcept;

} // namespace tulle::detail
