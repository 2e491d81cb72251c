// SPDX-License-Identifier: Apache-2.0
//
// One thread sleeps until the first deadline of all, and another inserts an earlier one: either the
// sleeper sees it, or it is told.
#include "explorer/explore.hpp"
#include "wait/first_deadlines.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

constexpr std::uint64_t k_early = 5;
constexpr std::uint64_t k_late = 10;

struct errors {
    bool scans_once = false;
    bool no_fence = false;         // of the inserter
    bool no_fence_between = false; // between the scans of the sleeper
};

// Queue 0 has a timer at first, which is removed, queue 1 gets a later one.
class house {
public:
    explicit house(errors e) : m_errors(e) { m_deadlines.publish(0, k_early); }

    void remove() { m_deadlines.publish(0, wait::k_never); }
    void insert() {
        m_deadlines.publish(1, k_late);
        bool const is_first =
            m_errors.no_fence ? k_late <= m_deadlines.scan() : m_deadlines.is_first_of_all(k_late);
        if (is_first && m_announced.load(relaxed)) m_told.store(true, relaxed);
    }
    void sleep() {
        m_announced.store(true, relaxed);
        machine::heavy_fence();
        m_until.store(find_first(), relaxed);
    }
    void check_end() const {
        model::check(m_until.load(relaxed) <= k_late || m_told.load(relaxed),
                     "the sleeper wakes in time");
    }
    [[nodiscard]] bool was_told() const { return m_told.load(relaxed); }

private:
    std::uint64_t find_first() {
        if (m_errors.scans_once) return m_deadlines.scan();
        if (!m_errors.no_fence_between) return m_deadlines.first();
        std::uint64_t const seen = m_deadlines.scan();
        return seen == m_deadlines.scan() ? seen : m_deadlines.first();
    }

    errors m_errors;
    wait::first_deadlines<machine, 2> m_deadlines;
    model::atomic<bool> m_announced{false};
    model::atomic<bool> m_told{false};
    model::atomic<std::uint64_t> m_until{0};
};

model::test_body house_of(errors e, int* told = nullptr) {
    return [=](model::test& t) {
        auto& h = t.make<house>(e);
        t.thread([&h] { h.remove(); });
        t.thread([&h] { h.insert(); });
        t.thread([&h] { h.sleep(); });
        t.at_end([&h, told] {
            h.check_end();
            if (told != nullptr) *told += h.was_told() ? 1 : 0;
        });
    };
}

model::options all() { return model::exhaustive(4, 1'000'000); }

void expect_failure(char const* name, errors e) {
    model::options o = all();
    o.expect_failure = true;
    EXPECT_FALSE(model::explore(name, o, house_of(e)).passed());
}

TEST(first_deadlines, nobody_sleeps_too_long) {
    int told = 0;
    model::result const r = model::explore("first_deadlines", all(), house_of({}, &told));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    EXPECT_GT(told, 0);
}

TEST(first_deadlines, one_scan_is_not_enough) {
    expect_failure("first_deadlines_one_scan", {.scans_once = true});
}

TEST(first_deadlines, each_fence_is_needed) {
    expect_failure("first_deadlines_no_fence_between", {.no_fence_between = true});
    expect_failure("first_deadlines_no_fence", {.no_fence = true});
}

} // namespace
