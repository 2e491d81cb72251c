// SPDX-License-Identifier: Apache-2.0
//
// The permits of a spawn_group: never more taken than there are, none is lost, who lends its permit
// has one when it goes on, and nobody waits for ever (it would show as a deadlock).
#include "base/sanitize.hpp"
#include "group/permits.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace {

using namespace tulle;
using enum std::memory_order;
using permits = group::permits<model::parking>;

struct counts {
    std::size_t parks = 0;
    std::size_t early = 0;     // lenders that went on before their child had ended
    std::size_t time_outs = 0; // of newcomers
};

struct group_of_threads {
    group_of_threads(std::size_t columns, std::size_t limit) : of(columns, limit), most(limit) {}

    model::parking_world world;
    permits of;
    std::size_t most;
    std::array<model::atomic<std::size_t>, 2> inside;
    model::atomic<permits::lender*> lent{nullptr}; // to the child
    model::plain<int> only_one{0}; // touched with the permit, when there is one only
    model::atomic<int> child_has_ended{0};
    counts seen;

    void enter(std::size_t column) {
        model::check(inside[column].fetch_add(1, relaxed) < most, "no more threads than permits");
        if (of.columns() == 1 && most == 1) only_one.store(only_one.load() + 1);
    }
    void leave(std::size_t column) { inside[column].fetch_sub(1, relaxed); }
    void end(permits::member& self) {
        auto nobody = [](std::size_t) { return false; };
        leave(self.column);
        of.end(self, nobody);
    }
    void run(std::size_t column) {
        permits::member self;
        self.column = column;
        of.begin(self, nullptr);
        enter(column);
        end(self);
    }
    void newcomer(std::size_t wanted) { run(of.take(wanted)); }
    void timed(std::size_t wanted) {
        std::size_t const column = of.take_until(wanted, 2);
        if (column != group::k_any_column)
            run(column);
        else
            ++seen.time_outs;
    }
    void lender(std::size_t wanted) {
        permits::member self;
        self.column = of.take(wanted);
        of.begin(self, nullptr);
        enter(self.column);
        {
            permits::lender mine(self.column);
            leave(self.column);
            lent.store(&mine, release); // pairs with child: as the start of a thread
            of.wait_back(mine);
            if (child_has_ended.load(relaxed) == 0) ++seen.early;
        }
        enter(self.column);
        end(self);
    }
    void child() {
        permits::lender* from = nullptr;
        while ((from = lent.load(acquire)) == nullptr) model::machine::pause(); // pairs with lender
        permits::member self;
        self.column = from->wanted;
        of.begin(self, from);
        enter(self.column);
        child_has_ended.store(1, relaxed);
        end(self);
    }
};

struct shape {
    std::size_t columns = 1;
    std::size_t most = 1;
    int lenders = 0;
    int newcomers = 0;
    int timed = 0;
    bool any = false; // they take any column
};

model::test_body body(shape s, counts* seen = nullptr) {
    return [=](model::test& t) {
        auto& g = t.make<group_of_threads>(s.columns, s.most);
        std::size_t const wanted = s.any ? group::k_any_column : 0;
        for (int i = 0; i < s.lenders; ++i) {
            t.thread([&g, wanted] { g.lender(wanted); });
            t.thread([&g] { g.child(); });
        }
        for (int i = 0; i < s.newcomers; ++i)
            t.thread([&g, wanted, i] { g.newcomer(i == 0 ? 0 : wanted); });
        for (int i = 0; i < s.timed; ++i) t.thread([&g, wanted] { g.timed(wanted); });
        if (s.timed > 0) t.thread([&g] { g.world.time_passes(); });
        t.at_end([=, &g] {
            model::check(g.of.taken() == 0, "all permits have come back");
            if (seen == nullptr) return;
            seen->parks += static_cast<std::size_t>(g.world.parks);
            seen->early += g.seen.early;
            seen->time_outs += g.seen.time_outs;
        });
    };
}

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(permits, newcomers_wait_for_the_only_permit) {
    counts seen;
    model::result const r =
        model::explore("permits_one", random(20000), body({.newcomers = 3}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.parks, r.executions / 20);
}

TEST(permits, newcomers_of_any_column) {
    model::result const r = model::explore("permits_any", random(20000),
                                           body({.columns = 2, .newcomers = 4, .any = true}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(permits, the_only_permit_is_lent) {
    model::options const o =
        model::without_heavy_fence(model::exhaustive(2, base::k_thread_sanitizer ? 2000 : 20000));
    counts seen;
    model::result const alone = model::explore("permits_lent", o, body({.lenders = 1}, &seen));
    EXPECT_TRUE(alone.passed()) << alone;
    EXPECT_EQ(seen.early, 0U) << "nobody else could give it a permit";
    model::result const more = model::explore("permits_lent_too", random(20000),
                                              body({.lenders = 1, .newcomers = 2}, &seen));
    EXPECT_TRUE(more.passed()) << more;
    EXPECT_GT(seen.parks, more.executions / 20);
}

TEST(permits, a_lender_goes_on_as_soon_as_a_permit_of_its_column_is_free) {
    counts seen;
    model::result const r = model::explore("permits_early", random(20000),
                                           body({.most = 2, .lenders = 1, .newcomers = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.early, r.executions / 100);
    counts elsewhere;
    shape const two{.columns = 2, .lenders = 1, .newcomers = 2, .any = true};
    model::result const other =
        model::explore("permits_elsewhere", random(20000), body(two, &elsewhere));
    EXPECT_TRUE(other.passed()) << other;
    EXPECT_EQ(elsewhere.early, 0U) << "a permit of another column is no use";
}

TEST(permits, time_outs) {
    counts seen;
    model::result const r = model::explore("permits_timed", random(30000),
                                           body({.lenders = 1, .newcomers = 1, .timed = 1}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.time_outs, r.executions / 200);
}

TEST(permits, every_order_is_needed) {
    auto mutants =
        model::weaken_each("permits_weakened", random(base::k_thread_sanitizer ? 2000 : 10000),
                           body({.lenders = 1, .newcomers = 1, .timed = 1}));
    EXPECT_GE(mutants.size(), 2U);
    // The outcome of a time-out is acquired for the sake of batches, of which there are none here.
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file == "waiter.hpp"; });
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace
