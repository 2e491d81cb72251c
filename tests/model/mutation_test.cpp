// SPDX-License-Identifier: Apache-2.0
//
// Orders weakened one by one: what is needed is noticed, what is not survives, and a body that
// fails anyway proves nothing.
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace {

using namespace tulle::model;
using enum std::memory_order;

options exhaustive() { return tulle::model::exhaustive(4, 400000); }

struct two_words {
    atomic<int> x{0};
    atomic<int> y{0};
};

TEST(mutation, each_needed_order_is_noticed) {
    auto const mutants = weaken_each("mutation", exhaustive(), [](test& t) {
        auto& s = t.make<two_words>();
        auto& data = t.make<plain<int>>(0);
        t.thread([&] {
            data.store(1);
            s.x.store(1, release);
        });
        t.thread([&] {
            if (s.x.load(acquire) == 1) (void)data.load();
            s.y.store(1, release); // needed by nobody
        });
    });
    EXPECT_EQ(mutants.size(), 3U);
    std::string const left = survivors(mutants);
    EXPECT_EQ(std::count(left.begin(), left.end(), '\n'), 1) << left;
    EXPECT_NE(left.find("release -> relaxed"), std::string::npos) << left;
}

constexpr int k_rounds = 5; // chosen so that one of some thousand executions fails

TEST(mutation, a_body_that_fails_unweakened_is_refused) {
    options o = exhaustive();
    o.expect_failure = true; // prints nothing
    auto const always = [](test& t) { t.thread([] { check(false, "planted"); }); };
    EXPECT_THROW((void)weaken_each("mutation_broken", o, always), std::logic_error);
    // Rarely: the sample in which orders are looked for misses it, and the search for a mutant does
    // not.
    options rarely;
    rarely.expect_failure = true;
    auto const in_step = [](test& t) {
        auto& s = t.make<two_words>();
        t.thread([&s] {
            for (int i = 1; i <= k_rounds; ++i) s.x.store(i, release);
        });
        t.thread([&s] {
            int met = 0;
            while (met < k_rounds && s.x.load(acquire) == met + 1) ++met;
            check(met < k_rounds, "planted");
        });
    };
    rarely.executions = 2000;
    ASSERT_TRUE(explore("mutation_rare", rarely, in_step).passed());
    rarely.executions = 20000;
    EXPECT_THROW((void)weaken_each("mutation_rare", rarely, in_step), std::logic_error);
}

} // namespace
