// SPDX-License-Identifier: Apache-2.0
#include "diag/dwarf_reader.hpp"

#include <array>

#include <gtest/gtest.h>

namespace {

using tulle::diag::dwarf_reader;

template <std::size_t N> dwarf_reader over(std::array<unsigned char, N> const& bytes) {
    return {bytes.data(), bytes.data() + N};
}

// The examples of DWARF 5, tables 7.7 and 7.8.
TEST(dwarf_reader, numbers_of_variable_length) {
    std::array<unsigned char, 7> const positive{2, 127, 0x80, 1, 0x81, 1, 0};
    dwarf_reader p = over(positive);
    for (std::uint64_t const expected : {2U, 127U, 128U, 129U, 0U})
        EXPECT_EQ(p.unsigned_number(), expected);
    EXPECT_TRUE(p.at_end());
    std::array<unsigned char, 9> const either{2, 0x7E, 0xFF, 0, 0x81, 0x7F, 0x80, 1, 0x40};
    dwarf_reader e = over(either);
    for (std::int64_t const expected : {2, -2, 127, -127, 128, -64})
        EXPECT_EQ(e.signed_number(), expected);
    EXPECT_TRUE(e.at_end());
}

TEST(dwarf_reader, nothing_is_read_past_the_end) {
    std::array<unsigned char, 2> const bytes{0xFF, 0xFF};
    dwarf_reader r = over(bytes);
    EXPECT_EQ(r.fixed<std::uint32_t>(), 0U);
    EXPECT_TRUE(r.at_end());
    EXPECT_EQ(r.byte(), 0);
    EXPECT_EQ(r.unsigned_number(), 0U);
    dwarf_reader unended = over(bytes);
    static_cast<void>(unended.unsigned_number());
    EXPECT_TRUE(unended.at_end());
}

TEST(dwarf_reader, blocks_are_cut_at_the_end) {
    std::array<unsigned char, 4> const bytes{2, 7, 8, 200};
    dwarf_reader r = over(bytes);
    dwarf_reader block = r.block();
    EXPECT_EQ(block.byte(), 7);
    EXPECT_EQ(block.byte(), 8);
    EXPECT_TRUE(block.at_end());
    EXPECT_TRUE(r.block().at_end());
}

} // namespace
