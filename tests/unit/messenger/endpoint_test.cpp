// SPDX-License-Identifier: Apache-2.0
//
// Places over a virtual network in this process: calls, finishes, exceptions, payloads of all
// sizes, with messages in order and out of order, with and without reading of each other's memory,
// with room for few messages.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

struct larger_than_memory {
    std::byte first{};
};

} // namespace

template <> struct tulle::wire<larger_than_memory> {
    static void put(wire_writer& to, larger_than_memory const& value) {
        // Compilers see that there is only one byte.
        std::size_t const volatile much = std::size_t{1} << 46U;
        to.put_bytes(&value.first, much);
    }
    static larger_than_memory get(wire_reader& /*from*/) { return {}; }
};

namespace {

struct refusing_network : named_network {
    refusals refused{};
    int reserved_cpu = -1;
};

class remote_test : started, public testing::TestWithParam<refusing_network> {
protected:
    loopback_places m_places{
        4,
        GetParam().options,
        {.refused = GetParam().refused, .reserved_cpu = GetParam().reserved_cpu}};
};

INSTANTIATE_TEST_SUITE_P(
    networks, remote_test,
    testing::Values(
        refusing_network{{"in_order"}}, refusing_network{{"out_of_order", {.seed = 7}}},
        refusing_network{{"polled_always", {.seed = 13}}, {}, 0},
        refusing_network{{"very_late", {.seed = 11, .most_delay = 100}}},
        refusing_network{{"small", {.seed = 3, .most_bytes = 512}}},
        refusing_network{{"narrow", {.most_waiting = 3}}},
        refusing_network{
            {"staged",
             {.seed = 9, .most_bytes = 512, .allows_read = false, .staging_bytes = 65536}}},
        refusing_network{{"unreadable", {.seed = 5, .most_bytes = 600, .allows_read = false}}},
        refusing_network{{"refusing", {.seed = 13, .most_bytes = 512, .staging_bytes = 65536}},
                         {.seed = 1, .sends = 30, .reads = 50, .stages = 50}}),
    network_name);

TEST_P(remote_test, the_caller_is_at_place_0_of_4) {
    EXPECT_EQ(tulle::place_count(), 4);
    EXPECT_EQ(tulle::here().index(), 0);
    std::set<int> all;
    for (auto const p : tulle::places()) all.insert(p.index());
    EXPECT_EQ(all, (std::set<int>{0, 1, 2, 3}));
    EXPECT_THROW(tulle::place(4), std::out_of_range);
    EXPECT_THROW(tulle::place(-1), std::out_of_range);
}

TEST_P(remote_test, at_runs_there_and_brings_the_result) {
    for (auto const p : tulle::places()) {
        EXPECT_EQ(tulle::at(p, [] { return tulle::here().index(); }), p.index());
        EXPECT_EQ(tulle::at(
                      p, [](std::string const& a, int b) { return a + std::to_string(b); },
                      std::string("x"), 5),
                  "x5");
    }
    int const captured = 13 + tulle::place_count();
    EXPECT_EQ(tulle::at(
                  tulle::place(2), [captured](int x) { return captured + x; }, 3),
              20);
}

TEST_P(remote_test, at_can_be_nested) {
    auto const visit = [](std::vector<int> way) {
        auto go = [](auto self, std::vector<int> left) -> int {
            if (left.empty()) return 1;
            tulle::place const next(left.back());
            left.pop_back();
            return 10 * tulle::at(next, self, self, left) + tulle::here().index();
        };
        return go(go, std::move(way));
    };
    // Each place on the way back adds its digit.
    EXPECT_EQ(tulle::at(tulle::place(3), visit, std::vector<int>{1, 2, 0, 1}), 12013);
}

TEST_P(remote_test, payloads_of_all_sizes_arrive) {
    for (std::size_t const size :
         {0U, 1U, 15U, 16U, 17U, 100U, 511U, 512U, 513U, 4000U, 4096U, 5000U, 100'000U}) {
        std::vector<std::uint8_t> bytes(size);
        std::iota(bytes.begin(), bytes.end(), std::uint8_t{3});
        auto const back = tulle::at(
            tulle::place(1),
            [](std::vector<std::uint8_t> v) {
                for (auto& b : v) ++b;
                return v;
            },
            bytes);
        for (auto& b : bytes) ++b;
        EXPECT_EQ(back, bytes) << size;
    }
}

TEST_P(remote_test, standard_exceptions_arrive_as_what_they_are) {
    tulle::place const there(1);
    EXPECT_THROW(tulle::at(there, [] { throw std::out_of_range("far"); }), std::out_of_range);
    EXPECT_THROW(tulle::at(there, [] { throw std::bad_alloc(); }), std::bad_alloc);
    try {
        tulle::at(there,
                  [] { throw std::system_error(ENOENT, std::generic_category(), "no luck"); });
        ADD_FAILURE();
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), std::errc::no_such_file_or_directory);
        EXPECT_EQ(std::string(e.what()).find("no luck"), 0U);
    }
}

struct own_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

TEST_P(remote_test, other_exceptions_arrive_by_name) {
    try {
        tulle::at(tulle::place(2), [] { throw own_error("mine"); });
        ADD_FAILURE();
    } catch (tulle::remote_error const& e) {
        EXPECT_EQ(e.place(), 2);
        EXPECT_NE(e.type().find("own_error"), std::string::npos);
        EXPECT_EQ(e.text(), "mine");
        EXPECT_EQ(e.what(), "mine (" + e.type() + ", thrown at place 2)");
    }
    EXPECT_THROW(tulle::at(tulle::place(3), [] { throw 5; }), tulle::remote_error);
}

TEST_P(remote_test, an_exception_keeps_its_origin_over_two_places) {
    try {
        tulle::at(tulle::place(1),
                  [] { tulle::at(tulle::place(3), [] { throw own_error("far"); }); });
        ADD_FAILURE();
    } catch (tulle::remote_error const& e) {
        EXPECT_EQ(e.place(), 3);
        EXPECT_EQ(e.what(), "far (" + e.type() + ", thrown at place 3)");
    }
}

TEST_P(remote_test, code_that_is_not_there_is_refused) {
    // In no object.
    auto* const nowhere = reinterpret_cast<tulle::detail::remote_code>(std::uintptr_t{64});
    try {
        tulle::wire_writer none;
        static_cast<void>(m_places.endpoint(0).call(1, nowhere, none));
        ADD_FAILURE();
    } catch (tulle::remote_error const& e) {
        EXPECT_NE(std::string(e.what()).find("does not have"), std::string::npos) << e.what();
    }
}

// --- finish --------------------------------------------------------------------------------------

std::atomic<long> g_ran{0};

TEST_P(remote_test, finish_waits_for_all_places) {
    g_ran = 0;
    for (int round = 1; round <= 20; ++round) {
        tulle::finish([](tulle::activities& all) {
            for (auto const p : tulle::places()) all.async_at(p, [] { ++g_ran; });
        });
        EXPECT_EQ(g_ran.load(), 4 * round);
    }
}

// Each activity starts up to three others, anywhere, until the budget is gone; the result says how
// many that makes.
struct tree {
    std::uint64_t seed;
    int depth;

    [[nodiscard]] tree child(int index) const {
        return {seed * 31 + static_cast<std::uint64_t>(index) + 1, depth - 1};
    }
    [[nodiscard]] int children() const {
        return depth == 0 ? 0 : static_cast<int>(tulle::base::rng(seed).below(4));
    }
    [[nodiscard]] int place_of_child(int index) const {
        return static_cast<int>(
            tulle::base::rng(seed + static_cast<std::uint64_t>(index) * 7919).below(4));
    }
    [[nodiscard]] long size() const {
        long sum = 1;
        for (int k = 0; k < children(); ++k) sum += child(k).size();
        return sum;
    }
};

void grow(tree t) {
    if (t.seed % 3 == 0) tulle::this_thread::yield();
    for (int k = 0; k < t.children(); ++k) {
        tulle::place const there(t.place_of_child(k));
        if (t.seed % 5 == 0)
            tulle::at(
                // Its activities belong to the same finish.
                there, [](tree c) { grow(c); }, t.child(k));
        else
            tulle::this_activity::async_at(
                there, [](tree c) { grow(c); }, t.child(k));
    }
    ++g_ran;
}

TEST_P(remote_test, finish_is_over_when_a_random_tree_is) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        tree const whole{seed, 6};
        g_ran = 0;
        tulle::finish([whole] { grow(whole); });
        EXPECT_EQ(g_ran.load(), whole.size()) << "seed " << seed;
    }
}

TEST_P(remote_test, finishes_are_nested_at_other_places) {
    g_ran = 0;
    tulle::finish([](tulle::activities& all) {
        for (auto const p : tulle::places())
            all.async_at(
                p,
                [](int outer) {
                    std::atomic<int> inner{0};
                    tulle::global_ref<std::atomic<int>> const here(inner);
                    tulle::finish([here](tulle::activities& nested) {
                        for (auto const q : tulle::places())
                            nested.async_at(
                                q,
                                [](auto home) {
                                    tulle::at(
                                        home.home(), [](auto count) { ++*count; }, home);
                                },
                                here);
                    });
                    if (inner == 4) g_ran += outer + 1;
                },
                p.index());
    });
    EXPECT_EQ(g_ran.load(), 1 + 2 + 3 + 4);
}

TEST_P(remote_test, a_finish_throws_what_one_activity_threw) {
    EXPECT_THROW(tulle::finish([](tulle::activities& all) {
                     all.async_at(tulle::place(2), [] { throw std::length_error("long"); });
                 }),
                 std::length_error);
    EXPECT_THROW(tulle::finish([] { throw std::length_error("here"); }), std::length_error);
}

TEST_P(remote_test, a_finish_collects_all_exceptions) {
    g_ran = 0;
    try {
        tulle::finish([](tulle::activities& all) {
            for (int k = 0; k < 12; ++k)
                all.async_at(
                    tulle::place(k % 4),
                    [](int which) {
                        if (which % 2 == 0) throw own_error(std::to_string(which));
                        ++g_ran;
                    },
                    k);
        });
        ADD_FAILURE();
    } catch (tulle::exception_list const& list) {
        std::set<std::string> texts;
        for (auto const& one : list.all()) try {
                std::rethrow_exception(one);
            } catch (tulle::remote_error const& e) {
                texts.insert(e.text());
            } catch (std::runtime_error const& e) { // of this place
                texts.insert(e.what());
            }
        EXPECT_EQ(texts, (std::set<std::string>{"0", "2", "4", "6", "8", "10"}));
    }
    EXPECT_EQ(g_ran.load(), 6);
}

TEST_P(remote_test, an_exception_of_any_length_arrives) {
    EXPECT_THROW(tulle::finish([](tulle::activities& all) {
                     all.async_at(tulle::place(1),
                                  [] { throw std::runtime_error(std::string(20'000, 'x')); });
                 }),
                 std::runtime_error);
}

TEST_P(remote_test, a_flood_in_all_directions_arrives) {
    g_ran = 0;
    constexpr int k_each = 300;
    tulle::finish([](tulle::activities& all) {
        for (auto const p : tulle::places())
            all.async_at(p, [] {
                for (int k = 0; k < k_each; ++k)
                    tulle::this_activity::async_at(tulle::place(k % 4), [] { ++g_ran; });
            });
    });
    EXPECT_EQ(g_ran.load(), 4 * k_each);
}

// What could not be sent must not be waited for.
TEST_P(remote_test, an_activity_for_which_there_is_no_memory_is_none) {
    if (tulle::base::k_address_sanitizer || tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "sanitizers end a program that asks for so much";
    tulle::finish([&](tulle::activities& all) {
        EXPECT_THROW(all.async_at(
                         tulle::place(1), [](larger_than_memory) {}, larger_than_memory()),
                     std::bad_alloc);
    });
}

TEST_P(remote_test, activities_outside_of_a_finish_are_refused) {
    EXPECT_THROW(tulle::this_activity::async([] {}), std::logic_error);
    EXPECT_THROW(tulle::at(tulle::place(1), [] { tulle::this_activity::async([] {}); }),
                 std::logic_error);
}

TEST_P(remote_test, futures_of_calls) {
    std::vector<tulle::future<int>> all;
    for (int k = 0; k < 20; ++k)
        all.push_back(tulle::async_at(
            tulle::place(0), [](int x) { return x; }, k));
    for (int k = 0; k < 20; ++k) EXPECT_EQ(all[static_cast<std::size_t>(k)].get(), k);
}

// --- messages ------------------------------------------------------------------------------------

class messages : started, public testing::Test {
protected:
    template <class F> std::uint64_t count(F action) {
        std::uint64_t const before = m_places.network().sent();
        action();
        return m_places.network().sent() - before;
    }
    loopback_places m_places{3};
};

TEST_F(messages, a_call_is_one_there_and_one_back) {
    EXPECT_EQ(count([] { tulle::at(tulle::place(1), [] {}); }), 2U);
    EXPECT_EQ(count([] {
                  tulle::at(
                      tulle::place(1), [](std::vector<int> v) { return v; }, std::vector<int>(900));
              }),
              2U);
}
TEST_F(messages, large_arguments_of_a_call_cost_none) {
    EXPECT_EQ(count([] {
                  tulle::at(
                      tulle::place(1), [](std::vector<int> const&) {}, std::vector<int>(100'000));
              }),
              2U);
}
TEST_F(messages, a_large_result_costs_one_more) {
    EXPECT_EQ(count([] { tulle::at(tulle::place(1), [] { return std::vector<int>(100'000); }); }),
              3U);
}
TEST_F(messages, an_activity_is_one_and_the_end_of_all_at_a_place_is_one) {
    EXPECT_EQ(count([] {
                  tulle::finish(
                      [](tulle::activities& all) { all.async_at(tulle::place(1), [] {}); });
              }),
              2U);
    EXPECT_EQ(count([] {
                  tulle::finish([](tulle::activities& all) {
                      for (auto const p : tulle::places()) all.async_at(p, [] {});
                  });
              }),
              4U);
}
TEST_F(messages, a_large_activity_is_one_and_a_release) {
    EXPECT_EQ(count([] {
                  tulle::finish([](tulle::activities& all) {
                      all.async_at(
                          tulle::place(1), [](std::vector<int> const&) {},
                          std::vector<int>(100'000));
                  });
              }),
              3U);
}
TEST_F(messages, a_finish_that_stays_here_sends_none) {
    EXPECT_EQ(count([] { tulle::finish([](tulle::activities& all) { all.async([] {}); }); }), 0U);
}

} // namespace
