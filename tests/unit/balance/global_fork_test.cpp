// SPDX-License-Identifier: Apache-2.0
//
// Work that may run at any place, over a virtual network: the workers of this process take work for
// all places in turn, from steal areas that all reach or by messages, in order and out of order.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"
#include "worker_of_all_places.hpp"

#include <tulle/finish.hpp>
#include <tulle/global_fork.hpp>
#include <tulle/place.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class global_work_test : looks_for_all_places,
                         started,
                         public testing::TestWithParam<named_network> {
protected:
    global_work_test() { begin_looking(m_places); }
    ~global_work_test() override { end_looking(); }
    loopback_places m_places{4, GetParam().options};
};

INSTANTIATE_TEST_SUITE_P(
    networks, global_work_test,
    testing::Values(named_network{"steal_areas", {}},
                    named_network{"steal_areas_out_of_order", {.seed = 7}},
                    named_network{"apart", {.shares_segments = false}},
                    named_network{"apart_out_of_order",
                                  {.seed = 3, .most_bytes = 512, .shares_segments = false}},
                    named_network{"apart_narrow", {.most_waiting = 3, .shares_segments = false}}),
    network_name);

constexpr int k_depth =
    tulle::base::k_thread_sanitizer || tulle::base::k_address_sanitizer ? 9 : 12;

// Leaves of a tree, and the places that have counted some, as bits.
struct census_of_leaves {
    long leaves = 1;
    std::uint32_t places = 0;
};
census_of_leaves count_leaves(int depth) {
    if (depth == 0) return {1, std::uint32_t{1} << tulle::here().index()};
    auto older = tulle::global_fork<&count_leaves>(depth - 1);
    auto const younger = count_leaves(depth - 1);
    auto const both = older.join();
    return {both.leaves + younger.leaves, both.places | younger.places};
}

TEST_P(global_work_test, places_share_the_work_of_one) {
    std::uint32_t places = 0;
    while (places != 15) { // whoever takes none for ever hangs
        auto const found = count_leaves(k_depth);
        ASSERT_EQ(found.leaves, 1L << k_depth);
        places |= found.places;
    }
}

TEST_P(global_work_test, each_place_may_begin) {
    for (int round = 0; round < 5; ++round) {
        for (auto const p : tulle::places())
            EXPECT_EQ(tulle::at(p, [] { return count_leaves(k_depth - 3).leaves; }),
                      1L << (k_depth - 3));
    }
}

TEST_P(global_work_test, a_place_that_knows_of_no_such_work_sends_nothing) {
    std::atomic<int> ended{0};
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 100; ++k) all.async([&ended] { ++ended; });
    });
    EXPECT_EQ(ended, 100);
    EXPECT_EQ(m_places.network().sent(), 0U);
}

std::atomic<int> s_begun{0};

// The calling thread goes on when somebody else has begun what it has forked.
void let_it_be_stolen() {
    while (s_begun.load(std::memory_order_acquire) == 0) tulle::this_thread::yield();
}

struct odd_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
int fail_in_some_way(int how) {
    ++s_begun;
    if (how == 0) throw std::out_of_range("far");
    if (how == 1) throw odd_error("odd");
    throw std::runtime_error(std::string(10'000, 'x'));
}

// By this name the sanitizer of threads knows it (tests/support/isolation.cpp).
[[gnu::noinline]] std::string read_exception(std::exception const& e) {
    bool const is_far = dynamic_cast<std::out_of_range const*>(&e) != nullptr;
    return (is_far ? "out of range: " : "other: ") + std::string(e.what()).substr(0, 3);
}

TEST_P(global_work_test, exceptions_of_stolen_records_come_back) {
    for (int how = 0; how < 3; ++how) {
        s_begun = 0;
        auto child = tulle::global_fork<&fail_in_some_way>(how);
        let_it_be_stolen();
        try {
            static_cast<void>(child.join());
            ADD_FAILURE() << how;
        } catch (std::exception const& e) {
            EXPECT_EQ(read_exception(e), how == 0   ? "out of range: far"
                                         : how == 1 ? "other: odd"
                                                    : "other: xxx");
        }
    }
}

TEST_P(global_work_test, an_exception_that_unwinds_waits_for_stolen_records) {
    for (int how = 0; how < 3; ++how) {
        s_begun = 0;
        EXPECT_THROW(
            {
                auto const dropped = tulle::global_fork<&fail_in_some_way>(how);
                let_it_be_stolen();
                throw std::length_error("mine");
            },
            std::length_error);
    }
    EXPECT_EQ(count_leaves(3).leaves, 8);
}

long square(long x) { return x * x; }

TEST_P(global_work_test, joins_in_any_order_are_right) {
    using child = tulle::global_child<tulle::detail::global_function<&square>, long>;
    tulle::base::rng random(5);
    for (int round = 0; round < (tulle::base::k_thread_sanitizer ? 50 : 300); ++round) {
        std::vector<std::unique_ptr<child>> all;
        std::vector<long> left;
        while (left.size() < 1 + random.below(20)) {
            left.push_back(static_cast<long>(all.size()));
            all.push_back(std::make_unique<child>(left.back()));
        }
        while (!left.empty()) {
            if (random.below(4) == 0) {
                left.push_back(static_cast<long>(all.size()));
                all.push_back(std::make_unique<child>(left.back()));
            }
            auto const chosen =
                left.begin() + random.below(static_cast<std::uint32_t>(left.size()));
            ASSERT_EQ(all[static_cast<std::size_t>(*chosen)]->join(), *chosen * *chosen);
            left.erase(chosen);
            if (random.below(3) == 0) tulle::this_thread::yield();
        }
    }
}

TEST_P(global_work_test, more_children_than_a_deque_holds_are_right) {
    using child = tulle::global_child<tulle::detail::global_function<&square>, long>;
    std::vector<std::unique_ptr<child>> all;
    for (long k = 0; k < 1000; ++k) all.push_back(std::make_unique<child>(k));
    for (long k = 999; k >= 0; --k) ASSERT_EQ(all[static_cast<std::size_t>(k)]->join(), k * k);
}

TEST_P(global_work_test, arguments_and_results_of_many_kinds_travel) {
    struct large {
        long words[12];
    };
    auto wide = tulle::global_fork(
        [](large all) {
            for (long& w : all.words) ++w;
            return all;
        },
        large{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
    auto none = tulle::global_fork([] { ++s_begun; });
    auto mixed = tulle::global_fork([](char a, double b, short c) { return a + b * c; }, char{1},
                                    2.5, short{4});
    EXPECT_EQ(mixed.join(), 11.0);
    none.join();
    EXPECT_EQ(wide.join().words[11], 13);
}

std::atomic<long> s_nodes{0};

void visit_nodes(int depth, int width) {
    ++s_nodes;
    if (depth == 0) return;
    for (int k = 0; k < width; ++k)
        tulle::this_activity::async_any([](int d, int w) { visit_nodes(d, w); }, depth - 1, width);
}

TEST_P(global_work_test, a_finish_waits_for_activities_wherever_they_go) {
    for (int round = 0; round < (tulle::base::k_thread_sanitizer ? 5 : 30); ++round) {
        s_nodes = 0;
        tulle::finish([] { visit_nodes(5, 4); });
        ASSERT_EQ(s_nodes, (4 * 4 * 4 * 4 * 4 * 4 - 1) / 3);
    }
}

TEST_P(global_work_test, activities_move) {
    static std::atomic<std::uint32_t> s_places{0};
    s_places = 0;
    while (s_places != 15) {
        tulle::finish([](tulle::activities& all) {
            for (int k = 0; k < 200; ++k)
                all.async_any(
                    [](std::string const& text) {
                        s_places |= (1U << tulle::here().index()) * (text == "some text" ? 1U : 0U);
                    },
                    std::string("some text"));
        });
    }
}

TEST_P(global_work_test, activities_take_along_what_their_arguments_lead_to) {
    static std::atomic<int> s_sum;
    s_sum = 0;
    tulle::finish([](tulle::activities& all) {
        for (int k = 0; k < 200; ++k) {
            auto const shared = std::make_shared<int>(k);
            all.async_any(
                [](std::unique_ptr<std::string> const& text, std::shared_ptr<int> const& number,
                   std::vector<std::shared_ptr<int>> const& numbers) {
                    if (*text == "text" && numbers.at(1) == number) s_sum += *number;
                },
                std::make_unique<std::string>("text"), shared,
                std::vector<std::shared_ptr<int>>{nullptr, shared});
        }
    });
    EXPECT_EQ(s_sum, 19900);
}

TEST_P(global_work_test, a_finish_begun_elsewhere_collects_what_activities_throw) {
    auto const thrown = tulle::at(tulle::place(2), [] {
        try {
            tulle::finish([](tulle::activities& all) {
                for (int k = 0; k < 60; ++k)
                    all.async_any(
                        [](int n) {
                            if (n % 2 == 0) throw std::out_of_range("even");
                        },
                        k);
            });
        } catch (tulle::exception_list const& e) {
            return static_cast<int>(e.all().size());
        }
        return 0;
    });
    EXPECT_EQ(thrown, 30);
}

TEST_P(global_work_test, activities_that_fork_and_wait) {
    s_nodes = 0;
    tulle::finish([](tulle::activities& all) {
        for (int k = 0; k < 40; ++k)
            all.async_any(
                [](int depth) {
                    s_nodes += count_leaves(depth).leaves +
                               tulle::at(tulle::place(depth % 4), [] { return 1; });
                },
                k % 8);
    });
    EXPECT_EQ(s_nodes, 40 + 5 * 255);
}

// --- without places ------------------------------------------------------------------------------

class global_work_alone_test : started, public testing::Test {};

TEST_F(global_work_alone_test, another_worker_takes_it) {
    s_begun = 0;
    auto child = tulle::global_fork([](int n) { return ++s_begun + n; }, 1);
    let_it_be_stolen();
    EXPECT_EQ(child.join(), 2);
    EXPECT_EQ(count_leaves(k_depth).leaves, 1L << k_depth);
}

TEST_F(global_work_alone_test, another_worker_is_woken_for_it) {
    for (int round = 0; round < 20; ++round) {
        // This one does not yield.
        while (tulle::sched::scheduler::instance().idle().sleeping() == 0) {}
        s_begun = 0;
        auto child = tulle::global_fork([](int n) { return ++s_begun + n; }, 1);
        while (s_begun.load(std::memory_order_acquire) == 0) {}
        EXPECT_EQ(child.join(), 2);
    }
}

TEST_F(global_work_alone_test, activities_run) {
    s_nodes = 0;
    tulle::finish([] { visit_nodes(5, 4); });
    EXPECT_EQ(s_nodes, 1365);
    s_begun = 0;
    tulle::finish([](tulle::activities& all) {
        all.async_any([] { ++s_begun; });
        let_it_be_stolen(); // by a worker that slept, or by this one
    });
}

TEST_F(global_work_alone_test, exceptions_of_records_that_another_worker_runs_stay_what_they_are) {
    s_begun = 0;
    auto child = tulle::global_fork<&fail_in_some_way>(1);
    let_it_be_stolen();
    EXPECT_THROW(static_cast<void>(child.join()), odd_error);
}

// How many children saw an exception that was not theirs.
std::atomic<int> s_foreign{0};
void look_for_exceptions() {
    ++s_begun;
    if (std::uncaught_exceptions() != 0 || std::current_exception() != nullptr) ++s_foreign;
    try {
        auto const of_child = tulle::global_fork<&fail_in_some_way>(1);
    } catch (odd_error const&) {
        ++s_begun;
    }
}
struct forks_at_its_end {
    ~forks_at_its_end() { auto const child = tulle::global_fork<&look_for_exceptions>(); }
};

// There is no thief.
TEST_F(global_work_alone_test, an_exception_that_unwinds_loses_no_work) {
    tulle::finalize();
    tulle::initialize({.workers = 1});
    s_begun = s_foreign = 0;
    try {
        auto const left = tulle::global_fork<&look_for_exceptions>();
        auto const fails = tulle::global_fork<&fail_in_some_way>(0); // its exception is dropped
        throw 1;
    } catch (int) {}
    EXPECT_EQ(s_begun, 4);
    try {
        forks_at_its_end const last;
        throw 1;
    } catch (int) {}
    EXPECT_EQ(s_begun, 7);
    EXPECT_EQ(s_foreign, 0);
}

TEST_F(global_work_alone_test, many_activities_need_few_stacks) {
    static std::atomic<int> s_running{0};
    static std::atomic<int> s_most{0};
    tulle::finish([](tulle::activities& all) {
        for (int k = 0; k < 50'000; ++k)
            all.async_any([] {
                int const now = ++s_running;
                for (int most = s_most; now > most && !s_most.compare_exchange_weak(most, now);) {}
                if (now % 2 == 1) tulle::this_thread::yield();
                --s_running;
            });
    });
    EXPECT_LT(s_most, 1000);
}

TEST_F(global_work_alone_test, one_worker_is_enough) {
    tulle::finalize();
    tulle::initialize({.workers = 1});
    EXPECT_EQ(count_leaves(k_depth).leaves, 1L << k_depth);
    s_nodes = 0;
    tulle::finish([] { visit_nodes(3, 3); });
    EXPECT_EQ(s_nodes, 40);
    s_begun = 0;
    tulle::finish([](tulle::activities& all) {
        all.async_any([] { ++s_begun; });
        let_it_be_stolen();
    });
}

} // namespace
