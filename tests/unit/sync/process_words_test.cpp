// SPDX-License-Identifier: Apache-2.0
#include <tulle/feb.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

namespace {

namespace feb = tulle::feb;

TEST(feb, smoke) {
    std::uint64_t word = 7;
    EXPECT_TRUE(feb::is_full(word));
    EXPECT_EQ(feb::read_ff(word), 7U);
    EXPECT_EQ(feb::read_fe(word), 7U);
    EXPECT_FALSE(feb::is_full(word));
    EXPECT_EQ(feb::try_read_fe(word), std::nullopt);
    feb::write_ef(word, 8);
    EXPECT_FALSE(feb::try_write_ef(word, 9));
    EXPECT_EQ(feb::read_ff(word), 8U);
    auto t = tulle::spawn([&word] { return feb::read_fe(word) + feb::read_fe(word); });
    while (feb::waiting(word).empty()) tulle::this_thread::yield();
    feb::write_ef(word, 5);
    EXPECT_EQ(t.join(), 13U);
    feb::fill(word);
}

} // namespace
