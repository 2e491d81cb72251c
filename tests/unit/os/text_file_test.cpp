// SPDX-License-Identifier: Apache-2.0
#include "os/text_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::os;

TEST(text_file, is_read_whole) {
    std::string folder = ::testing::TempDir() + "tulle-text-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    for (std::size_t const size : {0U, 1U, 4095U, 4096U, 4097U, 10'000U}) {
        std::string const text(size, 'x');
        std::ofstream(folder + "/file") << text;
        EXPECT_EQ(read_text(folder + "/file"), text);
    }
    EXPECT_EQ(read_text(folder + "/none"), std::nullopt);
    EXPECT_EQ(read_text(folder), "") << "a folder can be opened, and holds no text";
    std::filesystem::remove_all(folder);
}

TEST(text_file, numbers_are_taken_off_the_front) {
    std::string_view text = "-12,7";
    EXPECT_EQ(take_number(text), -12);
    EXPECT_EQ(text, ",7");
    EXPECT_EQ(take_number(text), std::nullopt);
    EXPECT_EQ(text, ",7");
    for (std::string_view nothing : {"", "max", "99999999999", " 1"})
        EXPECT_EQ(take_number(nothing), std::nullopt);
}

TEST(text_file, lines) {
    std::vector<std::string> lines;
    for_each_line("one\n\nthree\nfour", [&](std::string_view line) { lines.emplace_back(line); });
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "three", "four"}));
}

} // namespace
