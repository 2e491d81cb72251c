// SPDX-License-Identifier: Apache-2.0
//
// A worker that wakes while another thread inserts a deadline, which relies on it: one of the two
// sees to the deadline. And two that sleep at the same time: the time is kept by the one that wakes
// first.
#include "explorer/explore.hpp"
#include "park/timekeeper.hpp"

#include <tulle/detail/machine.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

constexpr std::uint64_t k_none = ~std::uint64_t{0};
constexpr std::uint64_t k_early = 10;
constexpr std::uint64_t k_late = 20;

struct bedroom {
    park::timekeeper<machine> keeper;
    model::atomic<std::uint64_t> first{k_none};
    model::atomic<int> told{0};

    void insert() {
        first.store(k_late, relaxed);
        machine::fence_seq_cst();
        if (!keeper.wakes_by(k_late)) told.fetch_add(1, relaxed); // K1
    }
    // It has found something to run.
    void wake(std::uint64_t slept_for) {
        if (keeper.leave(slept_for) && first.load(relaxed) != k_none) told.fetch_add(1, relaxed);
    }
    void check_end() const {
        model::check(!keeper.wakes_by(k_none - 1), "nobody keeps the time");
        model::check(told.load(relaxed) != 0, "somebody is told of the deadline");
    }
};

model::options all() { return model::exhaustive(3, 1'000'000); }

model::test_body one_body() {
    return [](model::test& t) {
        auto& b = t.make<bedroom>();
        model::check(b.keeper.take(k_early), "nobody else keeps the time");
        t.thread([&b] { b.insert(); });
        t.thread([&b] { b.wake(k_early); });
        t.at_end([&b] { b.check_end(); });
    };
}

// The second one may take the place of the first, or come when that one is gone.
model::test_body two_body() {
    return [](model::test& t) {
        auto& b = t.make<bedroom>();
        model::check(b.keeper.take(k_late), "nobody else keeps the time");
        t.thread([&b] { b.insert(); });
        t.thread([&b] { b.wake(k_late); });
        t.thread([&b] {
            model::check(b.keeper.take(k_early), "it wakes first");
            b.wake(k_early);
        });
        t.at_end([&b] { b.check_end(); });
    };
}

TEST(timekeeper, a_deadline_is_seen_to_by_its_inserter_or_by_the_one_that_wakes) {
    for (auto const& body : {one_body(), two_body()}) {
        model::result const r = model::explore("timekeeper", all(), body);
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    }
}

TEST(timekeeper, needs_its_fence) {
    model::options o = all();
    o.weakens = [](model::site const& s) { return s.file == "timekeeper.hpp"; };
    auto const mutants = model::weaken_each("timekeeper_weakened", o, one_body());
    EXPECT_GE(mutants.size(), 1U);
    EXPECT_EQ(model::survivors(mutants), "");
}

TEST(timekeeper, who_would_wake_later_does_not_keep_the_time) {
    park::timekeeper<detail::native_machine> keeper;
    EXPECT_FALSE(keeper.wakes_by(k_late));
    EXPECT_TRUE(keeper.take(k_early));
    EXPECT_FALSE(keeper.take(k_late));
    EXPECT_FALSE(keeper.take(k_early));
    EXPECT_TRUE(keeper.wakes_by(k_early));
    EXPECT_FALSE(keeper.wakes_by(k_early - 1));
    EXPECT_FALSE(keeper.leave(k_late));
    EXPECT_TRUE(keeper.leave(k_early));
    EXPECT_FALSE(keeper.wakes_by(k_late));
}

} // namespace
