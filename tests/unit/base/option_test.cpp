// SPDX-License-Identifier: Apache-2.0
#include "base/option.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace {

using namespace tulle::base;

constexpr auto k_api = option_source::api;

TEST(option, starts_with_defaults) {
    option_table table;
    EXPECT_EQ(table.number(option_id::workers), 0U);
    EXPECT_EQ(table.number(option_id::stack_size), 262144U);
    EXPECT_EQ(table.number(option_id::guard), k_guard_auto);
    EXPECT_EQ(table.number(option_id::shepherds), 0U);
    EXPECT_EQ(table.number(option_id::spin_us), 20U);
    EXPECT_EQ(table.number(option_id::seed), 0U);
    EXPECT_EQ(table.number(option_id::max_stacks), 0U);
    EXPECT_EQ(table.get(option_id::seed).source, option_source::built_in);
}

TEST(option, reads_numbers_sizes_and_words) {
    option_table table;
    EXPECT_EQ(table.set("workers", "12", k_api), std::nullopt);
    EXPECT_EQ(table.number(option_id::workers), 12U);
    EXPECT_EQ(table.set("workers", "auto", k_api), std::nullopt);
    EXPECT_EQ(table.number(option_id::workers), 0U);
    std::map<std::string, std::uint64_t> const sizes{
        {"1024", 1024}, {"16K", 16384}, {"16k", 16384}, {"2M", 2U << 20U}, {"1G", 1U << 30U}};
    for (auto const& [text, bytes] : sizes) {
        EXPECT_EQ(table.set("stack_size", text, k_api), std::nullopt) << text;
        EXPECT_EQ(table.number(option_id::stack_size), bytes);
    }
    EXPECT_EQ(table.set("guard", "mprotect", k_api), std::nullopt);
    EXPECT_EQ(table.number(option_id::guard), k_guard_mprotect);
    EXPECT_EQ(table.set("seed", "18446744073709551615", k_api), std::nullopt);
    EXPECT_EQ(table.number(option_id::seed), UINT64_MAX);
}

TEST(option, refuses_nonsense_and_keeps_the_value) {
    option_table table;
    for (char const* value :
         {"", "x", "-1", "1.5", "99999999999999999999", "4097", " 4", "4 ", "4K", "0x10", "Auto"}) {
        auto const error = table.set("workers", value, k_api);
        ASSERT_TRUE(error.has_value()) << value;
        EXPECT_NE(error->find("option workers: '" + std::string(value) +
                              "' is not a number from 0 to 4096 or auto"),
                  std::string::npos)
            << *error;
    }
    for (char const* value : {"0", "1023", "2G", "16KB", "16T", "99999999999G", "K", "auto"}) {
        EXPECT_TRUE(table.set("stack_size", value, k_api).has_value()) << value;
    }
    for (char const* value : {"", "0", "Install", "off"}) {
        auto const error = table.set("guard", value, k_api);
        ASSERT_TRUE(error.has_value()) << value;
        EXPECT_NE(error->find("none of auto|install|mprotect|none"), std::string::npos) << *error;
    }
    EXPECT_TRUE(table.set(option_id::spin_us, 1'000'001, k_api).has_value());
    EXPECT_EQ(table.number(option_id::workers), 0U);
    EXPECT_EQ(table.number(option_id::stack_size), 262144U);
    EXPECT_EQ(table.get(option_id::workers).source, option_source::built_in);
}

TEST(option, names_an_unknown_option) {
    option_table table;
    EXPECT_EQ(table.set("wrokers", "1", k_api).value(),
              "there is no option 'wrokers'; did you mean 'workers'? `tulle info` lists them");
    EXPECT_EQ(table.set("colour", "1", k_api).value(),
              "there is no option 'colour'; `tulle info` lists them");
    EXPECT_TRUE(table.set("", "1", k_api).has_value());
    EXPECT_TRUE(table.set_assignment("workers", k_api).has_value());
    EXPECT_EQ(table.set_assignment("workers=3", option_source::command_line), std::nullopt);
    EXPECT_EQ(table.get(option_id::workers).source, option_source::command_line);
}

TEST(option, reads_the_environment_and_reports_all_errors) {
    option_table table;
    auto const refused = table.read_environment([](char const* name) -> char const* {
        static std::map<std::string, char const*> const s_environment{
            {"TULLE_WORKERS", "lots"}, {"TULLE_STACK_SIZE", "64K"}, {"TULLE_SPIN_US", "-5"}};
        auto const place = s_environment.find(name);
        return place == s_environment.end() ? nullptr : place->second;
    });
    ASSERT_EQ(refused.size(), 2U);
    EXPECT_EQ(refused[0].error.rfind("TULLE_WORKERS: option workers: 'lots'", 0), 0U)
        << refused[0].error;
    EXPECT_EQ(refused[0].taken, "auto");
    EXPECT_EQ(refused[1].error.rfind("TULLE_SPIN_US: ", 0), 0U) << refused[1].error;
    EXPECT_EQ(refused[1].taken, "20");
    EXPECT_EQ(table.number(option_id::stack_size), 65536U);
    EXPECT_EQ(table.get(option_id::stack_size).source, option_source::environment);
    EXPECT_EQ(table.number(option_id::spin_us), 20U);
}

TEST(option, lists_every_option_for_people) {
    option_table table;
    static_cast<void>(table.set("guard", "none", option_source::environment));
    auto const rows = table.list();
    ASSERT_EQ(rows.size(), k_option_count);
    for (auto const& row : rows) {
        EXPECT_FALSE(row.name.empty());
        EXPECT_FALSE(row.unit.empty());
        EXPECT_TRUE(row.sentence.ends_with(".")) << row.sentence;
    }
    auto const row_of = [&rows](option_id id) { return rows[static_cast<std::size_t>(id)]; };
    EXPECT_EQ(row_of(option_id::workers).value, "auto");
    EXPECT_EQ(row_of(option_id::stack_size).value, "262144");
    EXPECT_EQ(row_of(option_id::guard).default_value, "auto");
    EXPECT_EQ(row_of(option_id::guard).value, "none");
    EXPECT_STREQ(text(row_of(option_id::guard).source), "environment");
    EXPECT_STREQ(text(row_of(option_id::workers).source), "default");
    EXPECT_STREQ(text(option_source::command_line), "command line");
    EXPECT_STREQ(text(option_source::api), "api");
}

} // namespace
