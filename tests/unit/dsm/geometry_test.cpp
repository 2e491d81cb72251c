// SPDX-License-Identifier: Apache-2.0
#include "dsm/geometry.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tulle::dsm {
namespace {

constexpr std::uint64_t k_section = 64 * 1024;
constexpr std::uint64_t k_chosen = 256;

geometry with_sections() {
    constexpr std::uint64_t k_program = 16 * 1024;
    return {TULLE_COHERENT_FIRST,
            k_program + bytes_of_sections(k_section),
            k_chosen / TULLE_COHERENT_LINE,
            2,
            k_program,
            k_section};
}

TEST(geometry, an_allocation_has_units_of_its_size) {
    geometry const all = with_sections();
    unit_map const units(all);
    for (std::uint64_t bytes = k_least_unit; bytes <= k_largest_unit; bytes *= 2) {
        for (std::uint64_t offset : {std::uint64_t{0}, k_section / 2, k_section - 1}) {
            std::uint64_t const address = all.address_of(offset, bytes);
            line_range const unit = units.unit_of(address / TULLE_COHERENT_LINE);
            EXPECT_EQ(unit.count * TULLE_COHERENT_LINE, bytes);
            EXPECT_LE(unit.first * TULLE_COHERENT_LINE, address);
            EXPECT_GT(unit.end() * TULLE_COHERENT_LINE, address);
            EXPECT_EQ(all.offset_of(address), offset);
        }
    }
}

TEST(geometry, the_program_and_what_is_behind_it_have_units_as_chosen) {
    geometry const all = with_sections();
    unit_map const units(all);
    EXPECT_EQ(all.address_of(0, k_chosen), all.address + all.program_bytes);
    for (std::uint64_t offset = 0; offset < all.program_bytes + k_section; offset += 1000)
        EXPECT_EQ(units.unit_of((all.address + offset) / TULLE_COHERENT_LINE).count,
                  all.lines_of_unit);
}

TEST(geometry, units_have_numbers_of_their_own_that_follow_each_other) {
    geometry const all = with_sections();
    unit_map const units(all);
    std::set<std::uint64_t> numbers;
    line_number const end = all.first_line() + all.lines();
    for (line_range unit = units.unit_of(all.first_line()); unit.first < end;) {
        std::uint64_t const number = units.number_of(unit.first);
        EXPECT_EQ(units.number_of(unit.end() - 1), number);
        EXPECT_LT(number, all.lines());
        EXPECT_TRUE(numbers.insert(number).second);
        line_range const next = units.unit_of(unit.end());
        if (next.first < end && next.count == unit.count) {
            EXPECT_EQ(units.number_of(next.first), number + 1);
        }
        unit = next;
    }
}

TEST(geometry, without_sections_all_units_are_as_chosen) {
    geometry const all{TULLE_COHERENT_FIRST, k_section, k_chosen / TULLE_COHERENT_LINE, 2};
    unit_map const units(all);
    for (std::uint64_t bytes : {k_least_unit, k_chosen, k_largest_unit}) {
        std::uint64_t const address = all.address_of(1234, bytes);
        EXPECT_EQ(address, all.address + 1234);
        EXPECT_EQ(units.unit_of(address / TULLE_COHERENT_LINE).count, all.lines_of_unit);
        EXPECT_EQ(all.offset_of(address), 1234U);
    }
}

} // namespace
} // namespace tulle::dsm
