// SPDX-License-Identifier: Apache-2.0
#include "dsm/state_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {
namespace {

constexpr std::uint64_t k_first = TULLE_COHERENT_FIRST;
constexpr std::uint64_t k_end = TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES;

std::uint64_t place_of(state_range const& range) {
    return reinterpret_cast<std::uint64_t>(range.first);
}

TEST(state_table, has_a_byte_for_each_line) {
    EXPECT_EQ(place_of(states_of(k_first, k_first)), TULLE_COHERENT_TABLE);
    EXPECT_EQ(states_of(k_first, k_first + 63).count, 1U);
    EXPECT_EQ(states_of(k_first, k_first + 64).count, 2U);
    EXPECT_EQ(states_of(k_first + 63, k_first + 64).count, 2U);
    EXPECT_EQ(place_of(states_of(k_first + 640, k_first + 641)), TULLE_COHERENT_TABLE + 10);
}

TEST(state_table, leaves_out_what_is_no_coherent_memory) {
    EXPECT_EQ(states_of(0, k_first - 1).count, 0U);
    EXPECT_EQ(states_of(k_end, UINT64_MAX).count, 0U);
    EXPECT_EQ(states_of(k_first + 1, k_first).count, 0U);
    EXPECT_EQ(states_of(k_first - 1000, k_first).count, 1U);
    EXPECT_EQ(states_of(k_end - 64, UINT64_MAX).count, 1U);
    EXPECT_FALSE(is_coherent(k_first - 1));
    EXPECT_TRUE(is_coherent(k_first));
    EXPECT_TRUE(is_coherent(k_end - 1));
    EXPECT_FALSE(is_coherent(k_end));
}

TEST(state_table, finds_the_first_state_with_a_bit) {
    std::array<std::uint8_t, 29> states{};
    state_range const all{states.data(), states.size()};
    EXPECT_FALSE(find_state(all, TULLE_COHERENT_NO_LOAD));
    for (std::size_t n = 0; n < states.size(); ++n) {
        states.fill(TULLE_COHERENT_NO_STORE);
        states[n] = TULLE_COHERENT_NO_LOAD;
        EXPECT_EQ(find_state(all, TULLE_COHERENT_NO_LOAD), n);
        EXPECT_FALSE(find_state({states.data(), n}, TULLE_COHERENT_NO_LOAD));
    }
}

TEST(state_table, has_no_state_looks_at_each_of_them_and_at_no_other) {
    std::array<std::uint8_t, 67> states{};
    for (std::size_t count = 1; count <= states.size() - 2; ++count) {
        for (std::size_t n = 0; n < states.size(); ++n) {
            states.fill(TULLE_COHERENT_NO_STORE);
            states[n] = TULLE_COHERENT_NO_LOAD;
            bool const is_outside = n == 0 || n > count;
            EXPECT_EQ(has_no_state({states.data() + 1, count}, TULLE_COHERENT_NO_LOAD), is_outside)
                << n << " of " << count;
        }
    }
}

} // namespace
} // namespace tulle::dsm
