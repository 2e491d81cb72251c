// SPDX-License-Identifier: Apache-2.0
// Which lines the slow paths look at: a state that one host never sets ends the program if it is
// among them.
#include "base/sanitize.hpp"
#include "dsm/state_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {
namespace {

// Far from what other tests may use.
constexpr std::uint64_t k_middle = TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES / 2;

constexpr bool k_has_table = !base::k_address_sanitizer && !base::k_thread_sanitizer;

struct rows {
    std::uint64_t first, bytes;
    std::int64_t stride;
    std::uint64_t more;
};

std::set<std::uint64_t> lines_touched(rows const& r) {
    std::set<std::uint64_t> lines;
    for (std::uint64_t row = 0; row <= r.more; ++row) {
        std::uint64_t const from = r.first + static_cast<std::uint64_t>(r.stride) * row;
        for (std::uint64_t a = from; a < from + r.bytes; ++a)
            lines.insert(a >> TULLE_COHERENT_LINE_SHIFT);
    }
    return lines;
}

std::uint8_t& writable_state(std::uint64_t line) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return *reinterpret_cast<std::uint8_t*>(TULLE_COHERENT_STATES + line);
}

void check_rows(rows const& r) {
    tulle_coherent_load_rows(r.first, r.first + r.bytes - 1, r.stride, r.more);
}

class access_checks : public ::testing::TestWithParam<rows> {
protected:
    void SetUp() override {
        if (!k_has_table) GTEST_SKIP() << "a sanitizer leaves no room for the table";
        tulle_coherent_start(TULLE_COHERENT_ABI);
    }
};

TEST_P(access_checks, look_at_each_line_of_rows_and_at_no_other) {
    rows const& r = GetParam();
    auto const touched = lines_touched(r);
    check_rows(r);
    for (std::uint64_t line = *touched.begin() - 2; line <= *touched.rbegin() + 2; ++line) {
        std::uint8_t& state = writable_state(line);
        state = TULLE_COHERENT_NO_STORE;
        check_rows(r); // it forbids no loads
        state = TULLE_COHERENT_NO_LOAD;
        if (touched.contains(line)) {
            if ((line - *touched.begin()) % 5 == 0) { // each takes a process
                EXPECT_DEATH(check_rows(r), "the table of states has been written to");
            }
        } else {
            check_rows(r);
        }
        state = 0;
    }
}

INSTANTIATE_TEST_SUITE_P(layouts, access_checks,
                         ::testing::Values(rows{k_middle, 8, 8, 100},         // one after the other
                                           rows{k_middle + 60, 8, -8, 30},    // downwards
                                           rows{k_middle, 128, 128, 15},      // a block
                                           rows{k_middle + 8, 100, 163, 9},   // gaps of 63 bytes
                                           rows{k_middle + 8, 100, 164, 9},   // of 64
                                           rows{k_middle, 128, 1024, 5},      // part of a matrix
                                           rows{k_middle + 8, 16, 4096, 9},   // a column of one
                                           rows{k_middle + 56, 8, -192, 20},  // likewise, upwards
                                           rows{k_middle + 56, 9, 256, 20},   // each in two lines
                                           rows{k_middle, 130, -1024, 5},     // likewise, downwards
                                           rows{k_middle + 1, 1000, 4096, 1}, // long ones
                                           rows{k_middle, 4, 0, 7}));         // the same one

// From 9 lines on states are looked at by words that overlap.
TEST(access_checks, look_at_each_line_of_ranges_and_at_no_other) {
    if (!k_has_table) GTEST_SKIP() << "a sanitizer leaves no room for the table";
    tulle_coherent_start(TULLE_COHERENT_ABI);
    constexpr std::uint64_t k_line = TULLE_COHERENT_LINE;
    std::uint64_t const first_line = k_middle / k_line;
    for (std::uint64_t const lines : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 24U, 25U}) {
        std::uint64_t const last = k_middle + (lines - 1) * k_line;
        for (std::uint64_t n = 0; n < lines + 16; ++n) {
            std::uint8_t& state = writable_state(first_line + n - 8);
            bool const is_touched = n >= 8 && n - 8 < lines;
            state = TULLE_COHERENT_NO_STORE;
            tulle_coherent_load_range(k_middle + k_line - 1, last);
            if (!is_touched) {
                tulle_coherent_store_range(k_middle, last);
                state = TULLE_COHERENT_NO_LOAD;
                tulle_coherent_load_range(k_middle, last);
            } else if (n % 3 == 0 || n > 14) { // each takes a process
                EXPECT_DEATH(tulle_coherent_store_range(k_middle, last), "has been written to");
                state = TULLE_COHERENT_NO_LOAD;
                EXPECT_DEATH(tulle_coherent_load_range(k_middle, last), "has been written to");
            }
            state = 0;
        }
    }
}

TEST(access_checks, states_of_other_memory_allow_everything) {
    if (!k_has_table) GTEST_SKIP() << "a sanitizer leaves no room for the table";
    tulle_coherent_start(TULLE_COHERENT_ABI);
    int const local = 0;
    auto const variable = std::make_unique<int>(0);
    static int s_global = 0;
    for (void const* at : {static_cast<void const*>(&local), static_cast<void const*>(&s_global),
                           static_cast<void const*>(variable.get()),
                           reinterpret_cast<void const*>(&tulle_coherent_start)})
        EXPECT_EQ(state_of(reinterpret_cast<std::uint64_t>(at)), 0);
    EXPECT_EQ(state_of(0), 0);
    EXPECT_EQ(state_of(TULLE_COHERENT_FIRST - 1), 0);
    EXPECT_EQ(state_of(TULLE_COHERENT_FIRST + TULLE_COHERENT_BYTES), 0);
    EXPECT_EQ(state_of((std::uint64_t{1} << 47) + 7 * TULLE_COHERENT_LINE), 0);
}

TEST(access_checks, what_is_no_coherent_memory_is_passed_over) {
    if (!k_has_table) GTEST_SKIP() << "a sanitizer leaves no room for the table";
    tulle_coherent_start(TULLE_COHERENT_ABI);
    tulle_coherent_load_range(0, UINT64_MAX >> 20);
    tulle_coherent_load_range(2, 1);
    tulle_coherent_store_rows(64, 127, 1 << 20, 100);
    tulle_coherent_store_rows(k_middle, k_middle + 7, INT64_MIN, 3);
    tulle_coherent_store_rows(k_middle, k_middle + 7, INT64_MAX, 3);
}

} // namespace
} // namespace tulle::dsm
