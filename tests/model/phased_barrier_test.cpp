// SPDX-License-Identifier: Apache-2.0
//
// The barrier with phases: nobody passes before all have arrived and the phase is completed, which
// happens once; arrivals that are not waited for, those who leave, and limits.
#include "sync/phased_barrier_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking;
using core = sync::phased_barrier_core<parking>;

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

struct meeting {
    explicit meeting(int count) { barrier.emplace().open(static_cast<std::uint64_t>(count)); }

    model::parking_world world;
    std::optional<core> barrier; // its storage stays when it is destroyed
    std::array<model::plain<int>, 3> progress;
    model::plain<int> completed;
    model::atomic<int> left_over{0};

    std::uint64_t arrive(bool drops = false) {
        std::uint64_t phase = 0;
        auto const result = barrier->arrive(1, drops, phase);
        model::check(result != sync::arrival_result::too_many, "as many arrive as take part");
        if (result == sync::arrival_result::last) {
            completed.store(completed.load() + 1);
            barrier->end_phase();
        }
        return phase;
    }
    void run(std::size_t self, std::size_t count, int phases) {
        for (int phase = 1; phase <= phases; ++phase) {
            progress[self].store(phase);
            barrier->wait(arrive());
            for (std::size_t i = 0; i < count; ++i)
                model::check(progress[i].load() == phase, "all have come so far");
            model::check(completed.load() == 2 * phase - 1, "and the phase is complete");
            barrier->wait(arrive());
        }
    }
    void run_in_time(std::size_t self) {
        progress[self].store(1);
        std::uint64_t const phase = arrive();
        if (!barrier->wait_until(phase, 2)) {
            left_over.fetch_add(1, relaxed);
            barrier->wait(phase);
        }
        model::check(completed.load() == 1, "the phase is complete");
    }
};

TEST(phased_barrier, separates_phases) {
    model::result const r = model::explore("phased_barrier", random(30000), [](model::test& t) {
        auto& m = t.make<meeting>(3);
        for (std::size_t i = 0; i < 3; ++i) t.thread([&m, i] { m.run(i, 3, 2); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(phased_barrier, limits_and_leavers) {
    int left_over = 0;
    model::result const r =
        model::explore("phased_barrier_timed", random(40000), [&left_over](model::test& t) {
            auto& m = t.make<meeting>(3);
            t.thread([&m] { m.run_in_time(0); });
            t.thread([&m] { m.run_in_time(1); });
            t.thread([&m] { static_cast<void>(m.arrive(true)); });
            t.thread([&m] { m.world.time_passes(); });
            t.at_end([&m, &left_over] {
                model::check(m.barrier->expected() == 2 && m.barrier->remaining() == 2,
                             "two are left");
                left_over += m.left_over.load(relaxed);
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(left_over), r.executions / 60);
}

TEST(phased_barrier, may_be_destroyed_by_the_first_that_returns) {
    model::options const o = model::without_heavy_fence(model::exhaustive(3, 200000));
    model::result const r = model::explore("phased_barrier_destroyed", o, [](model::test& t) {
        auto& m = t.make<meeting>(2);
        t.thread([&m] { static_cast<void>(m.arrive()); });
        t.thread([&m] {
            m.barrier->wait(m.arrive());
            m.barrier.reset(); // an access after this is an error
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(phased_barrier, every_order_is_needed) {
    auto const mutants =
        model::weaken_each("phased_barrier_weakened", random(10000), [](model::test& t) {
            auto& m = t.make<meeting>(3);
            t.thread([&m] { m.run_in_time(0); });
            t.thread([&m] { m.run_in_time(1); });
            t.thread([&m] { static_cast<void>(m.arrive(true)); });
            t.thread([&m] { m.world.time_passes(); });
        });
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace
