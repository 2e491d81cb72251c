// SPDX-License-Identifier: Apache-2.0
// Bytes that are written in words where that is possible.
#include "dsm/words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace tulle::dsm {
namespace {

TEST(words, fill_bytes_writes_these_and_no_others) {
    constexpr std::size_t k_room = 64;
    for (std::size_t first = 0; first < 16; ++first)
        for (std::size_t bytes = 0; first + bytes <= 48; ++bytes) {
            alignas(8) std::array<std::uint8_t, k_room> all{};
            all.fill(1);
            fill_bytes(all.data() + first, 0xA5, bytes);
            for (std::size_t k = 0; k < k_room; ++k)
                ASSERT_EQ(all[k], k >= first && k < first + bytes ? 0xA5 : 1)
                    << "byte " << k << " of " << bytes << " from " << first;
        }
}

} // namespace
} // namespace tulle::dsm
