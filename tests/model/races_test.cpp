// SPDX-License-Identifier: Apache-2.0
//
// Cells of races: of two accesses that are recorded at once at least one finds the other.
#include "explorer/explore.hpp"
#include "races/granule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace {

using namespace tulle;
using races::access;
using races::cell;
using races::process_number;

constexpr process_number k_processes = 3;
constexpr process_number k_somebody = 9; // whose accesses are in conflict with nobody's
constexpr unsigned k_cells = races::basic_granule<model::machine>::k_cells;

cell store_of(process_number p) { return cell(access{p, 1, 0, 3, true, false, p + 1}); }

struct world {
    races::basic_granule<model::machine> granule;
    // Which processes each has found.
    std::array<std::array<bool, k_processes>, k_processes> found{};

    // With all cells in use, each process takes one of its own; with none, the same one.
    explicit world(bool is_full) {
        for (unsigned k = 0; is_full && k < k_cells; ++k) {
            access const other{k_somebody, k + 1, 4 + k, 4 + k, true, false, 20 + k};
            granule.record(
                cell(other), k, [](process_number) { return 0U; }, [](cell) {});
        }
    }
    // Who knows of nobody.
    void record(process_number p) {
        granule.record(
            store_of(p), p, [](process_number) { return 0U; },
            [&](cell other) {
                if (other.process() < k_processes) found.at(p).at(other.process()) = true;
            });
    }
    [[nodiscard]] bool have_met(process_number a, process_number b) const {
        return found.at(a).at(b) || found.at(b).at(a);
    }
};

model::test_body at_once(process_number processes, bool is_full) {
    return [=](model::test& t) {
        auto& all = t.make<world>(is_full);
        for (process_number p = 0; p < processes; ++p) t.thread([&all, p] { all.record(p); });
        t.at_end([=, &all] {
            for (process_number p = 1; p < processes; ++p)
                model::check(all.have_met(0, p) || !is_full, "each pair is found");
            model::check(all.have_met(0, 1) || processes > 2, "a pair is found");
            bool any = false;
            for (process_number p = 1; p < processes; ++p) any = any || all.have_met(p - 1, p);
            model::check(any, "some pair is found");
        });
    };
}

TEST(races, of_two_at_once_exhaustively) {
    for (bool const is_full : {false, true}) {
        model::result const r = model::explore(
            is_full ? "races_own_cells" : "races_one_cell",
            model::without_heavy_fence(model::exhaustive(3, 200000)), at_once(2, is_full));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    }
}

TEST(races, of_three_at_once) {
    for (bool const is_full : {false, true}) {
        model::result const r =
            model::explore("races_three", model::without_heavy_fence(model::random(10000)),
                           at_once(k_processes, is_full));
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(races, every_order_is_needed) {
    auto mutants = model::weaken_each("races_weak", model::without_heavy_fence(model::random(4000)),
                                      at_once(2, true));
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file != "granule.hpp"; });
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
