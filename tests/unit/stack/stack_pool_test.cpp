// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "stack/stack_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/rng.hpp"
#include "memory_probe.hpp"
#include "test_fiber.hpp"

namespace {

using namespace tulle::stack;

constexpr size_class k_small{1};
constexpr size_class k_default = class_for(262144);
constexpr size_class k_compact{0};

std::vector<span> take(stack_pool& pool, size_class wanted, std::size_t count) {
    std::vector<span> spans(count);
    spans.resize(pool.allocate_many(wanted, spans.data(), count));
    return spans;
}

void give(stack_pool& pool, std::vector<span> const& spans) {
    pool.release_many(spans.data(), spans.size());
}

TEST(stack_pool, gives_writable_zeroed_disjoint_stacks) {
    stack_pool pool;
    for (size_class const wanted : {k_compact, k_small, k_default}) {
        auto const spans = take(pool, wanted, 3000);
        ASSERT_EQ(spans.size(), 3000U);
        std::set<std::byte*> ends;
        for (span const& one : spans) {
            ASSERT_EQ(one.size, wanted.bytes());
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(one.end()) % 1024, 0U);
            ASSERT_EQ(one.end()[-1], std::byte{0});
            one.end()[-1] = one.low[0] = std::byte{42};
            ends.insert(one.end());
        }
        EXPECT_EQ(ends.size(), spans.size());
        for (auto place = ends.begin(); std::next(place) != ends.end(); ++place) {
            ASSERT_GE(static_cast<std::size_t>(*std::next(place) - *place), wanted.bytes());
        }
        give(pool, spans);
    }
    EXPECT_EQ(pool.stats().in_use, 0U);
    EXPECT_EQ(pool.stats().high_water, 9000U);
}

TEST(stack_pool, serves_the_largest_class) {
    stack_pool pool;
    span const one = pool.allocate(class_for(k_largest_bytes));
    ASSERT_TRUE(one) << errno;
    one.low[0] = one.end()[-1] = std::byte{1};
    pool.release(one);
    EXPECT_EQ(pool.stats(class_for(k_largest_bytes)).in_use, 0U);
}

TEST(stack_pool, most_recently_released_comes_first) {
    stack_pool pool;
    auto const spans = take(pool, k_small, 3);
    pool.release(spans[1]);
    pool.release(spans[0]);
    EXPECT_EQ(pool.allocate(k_small).low, spans[0].low);
    EXPECT_EQ(pool.allocate(k_small).low, spans[1].low);
    give(pool, spans);
}

TEST(stack_pool, grows_only_when_nothing_is_free) {
    stack_pool pool;
    for (int round = 0; round < 5; ++round) {
        auto const spans = take(pool, k_small, 500);
        give(pool, spans);
    }
    EXPECT_EQ(pool.stats(k_small).growths, 2U); // to 16, then to 512
    EXPECT_EQ(pool.stats(k_small).created, 512U);
    EXPECT_EQ(pool.stats(k_default).created, 0U);
}

// As each guard of one takes a page of page tables, which a fork copies.
TEST(stack_pool, large_stacks_are_made_few_at_a_time) {
    constexpr size_class k_large = class_for(8U << 20U);
    stack_pool pool;
    auto const spans = take(pool, k_large, 17);
    EXPECT_EQ(pool.stats(k_large).created, 32U);
    give(pool, spans);
}

TEST(stack_pool, crosses_slabs) {
    stack_pool pool;
    auto spans = take(pool, k_small, 30'000);
    ASSERT_EQ(spans.size(), 30'000U);
    EXPECT_GT(pool.stats(k_small).reserved_bytes, 30'000U * k_small.bytes());
    tulle::base::rng random(7);
    for (std::size_t i = spans.size(); i > 1; --i) {
        std::swap(spans[i - 1], spans[random.below(static_cast<std::uint32_t>(i))]);
    }
    give(pool, spans);
    auto const again = take(pool, k_small, 30'000);
    std::set<std::byte*> distinct;
    for (span const& one : again) {
        distinct.insert(one.low);
    }
    EXPECT_EQ(distinct.size(), 30'000U);
    EXPECT_LT(pool.stats(k_small).created, 30'000U + 512);
    give(pool, again);
}

TEST(stack_pool, threads_share_it) {
    stack_pool pool;
    std::atomic<bool> clash{false};
    auto const work = [&](std::uint64_t seed) {
        tulle::base::rng random(seed);
        std::vector<span> mine;
        for (int i = 0; i < (k_sanitized ? 2'000 : 20'000); ++i) {
            if (mine.size() < 100 && random.below(2) == 0) {
                span const one = pool.allocate(k_small);
                std::memcpy(one.end() - sizeof seed, &seed, sizeof seed);
                mine.push_back(one);
            } else if (!mine.empty()) {
                clash =
                    clash || std::memcmp(mine.back().end() - sizeof seed, &seed, sizeof seed) != 0;
                pool.release(mine.back());
                mine.pop_back();
            }
        }
        pool.release_many(mine.data(), mine.size());
    };
    std::thread trimmer([&] {
        for (int i = 0; i < 50; ++i) {
            pool.trim();
        }
    });
    std::thread second([&] { work(2); });
    std::thread third([&] { work(3); });
    work(1);
    second.join();
    third.join();
    trimmer.join();
    EXPECT_FALSE(clash);
    EXPECT_EQ(pool.stats().in_use, 0U);
}

// It held the lock nearly all the time until all pages of a large pool had been given back.
TEST(stack_pool, trim_ends_when_a_stack_is_wanted) {
    static std::atomic<int> s_discards{0};
    static std::function<void()> s_while_discarding;
    s_discards = 0;
    tulle::os::memory_calls calls = tulle::os::system_memory();
    calls.discard = [](void*, std::size_t) noexcept {
        if (s_discards++ == 0) s_while_discarding();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return true;
    };
    settings chosen;
    chosen.memory = &calls;
    stack_pool pool(chosen);
    constexpr int k_batches = 16;
    give(pool, take(pool, k_small, k_batches * 512));
    span wanted;
    std::thread other;
    s_while_discarding = [&] { other = std::thread([&] { wanted = pool.allocate(k_small); }); };
    pool.trim();
    other.join();
    EXPECT_TRUE(wanted);
    EXPECT_LT(s_discards, k_batches / 2);
    pool.release(wanted);
}

TEST(stack_pool, trim_gives_pages_back_and_keeps_stacks) {
    if (are_pages_emulated())
        GTEST_SKIP() << "the pages of /proc/self are those of the machine below";
    stack_pool pool;
    for (size_class const wanted : {k_small, k_compact}) {
        std::size_t const count = wanted.is_compact() ? 32'768 : 8'192;
        std::size_t const touched =
            wanted.is_compact() ? count * 1024 : count * tulle::os::page_size();
        auto const spans = take(pool, wanted, count);
        for (span const& one : spans) {
            one.end()[-1] = std::byte{1};
        }
        std::vector<span> const kept(spans.begin(), spans.begin() + 3);
        pool.release_many(spans.data() + 3, spans.size() - 3);
        auto const before = resident_bytes();
        pool.trim();
        auto const after = resident_bytes();
        if (!k_sanitized) {
            EXPECT_GT(before - after, touched / 10 * 9);
        }
        for (span const& one : kept) {
            EXPECT_EQ(one.end()[-1], std::byte{1}) << "a stack in use was trimmed";
        }
        span const again = pool.allocate(wanted);
        EXPECT_EQ(again.end()[-1], std::byte{0});
        pool.release(again);
        give(pool, kept);
    }
}

TEST(stack_pool, runs_fibers) {
    stack_pool pool;
    struct state {
        tulle::arch::backend::context fiber, caller;
        tulle::arch::sanitizer_fiber annotation, caller_annotation;
        int depth = 0;
    };
    struct recursion {
        [[gnu::noinline]] static int down(int depth) {
            char volatile frame[64]{};
            return depth == 0 ? frame[0] : down(depth - 1) + 1 + frame[1];
        }
    };
    auto const entry = +[](void* argument) {
        auto& s = *static_cast<state*>(argument);
        tulle::arch::after_switch(s.annotation);
        s.depth = recursion::down(100);
        tulle::arch::before_switch(s.annotation, s.caller_annotation, true);
        tulle::arch::backend::set(s.caller);
    };
    for (int round = 0; round < 100; ++round) {
        state s;
        span const one = pool.allocate(k_default);
        s.annotation.create(one.low, one.size);
        s.caller_annotation.adopt_current_thread();
        tulle::arch::backend::make(s.fiber, one.low, one.size, entry, &s);
        tulle::arch::before_switch(s.caller_annotation, s.annotation, false);
        tulle::arch::backend::switch_to(s.caller, s.fiber);
        tulle::arch::after_switch(s.caller_annotation);
        s.annotation.destroy();
        pool.release(one);
        ASSERT_EQ(s.depth, 100);
    }
    EXPECT_EQ(pool.stats().created, 16U);
}

// -- guards

struct guard_case {
    guard_choice choice;
    guard_kind expected;
    bool faults;
};

class stack_pool_guard_death_test : public ::testing::TestWithParam<guard_case> {};

void write_below(span const& one) {
    std::byte volatile* const below = one.low - 1;
    *below = std::byte{1};
}

TEST(stack_pool, knows_of_an_overflow_before_the_release) {
    settings chosen;
    chosen.guard = guard_choice::none;
    stack_pool pool(chosen);
    span const one = pool.allocate(k_small);
    EXPECT_TRUE(pool.is_intact(one));
    write_below(one);
    EXPECT_FALSE(pool.is_intact(one));
    one.low[-1] = std::byte{0};
    pool.release(one);
    for (size_class const guarded : {k_compact, k_small}) { // where there is nothing to be seen
        stack_pool other;
        span const two = other.allocate(guarded);
        EXPECT_TRUE(other.is_intact(two));
        other.release(two);
    }
}

TEST_P(stack_pool_guard_death_test, stops_an_overflow) {
    bool const possible = tulle::os::can_install_guards(tulle::os::system_memory());
    if (GetParam().expected == guard_kind::install && !possible) {
        GTEST_SKIP() << "no guard regions before Linux 6.13";
    }
    settings chosen;
    chosen.guard = GetParam().choice;
    stack_pool pool(chosen);
    auto const spans = take(pool, k_small, 1200); // to 1536
    EXPECT_EQ(pool.guard(), GetParam().expected);
    EXPECT_EQ(pool.stats().unguarded, GetParam().faults ? 0U : 1536U);
    for (std::size_t i : {std::size_t{0}, std::size_t{511}, std::size_t{512}, spans.size() - 1}) {
        if (GetParam().faults) {
            EXPECT_EXIT(
                write_below(spans[i]), [](int status) { return status != 0; }, "");
        } else {
            EXPECT_DEATH((write_below(spans[i]), pool.release(spans[i])),
                         "overflowed its stack.*stack_size");
        }
    }
    give(pool, spans);
    pool.trim();
    span const again = pool.allocate(k_small);
    again.low[0] = std::byte{1};
    if (GetParam().faults) {
        EXPECT_EXIT(
            write_below(again), [](int status) { return status != 0; }, "")
            << "trim lost the guard";
    }
    pool.release(again);
}

INSTANTIATE_TEST_SUITE_P(
    kinds, stack_pool_guard_death_test,
    ::testing::Values(guard_case{guard_choice::automatic, guard_kind::install, true},
                      guard_case{guard_choice::install, guard_kind::install, true},
                      guard_case{guard_choice::mprotect, guard_kind::mprotect, true},
                      guard_case{guard_choice::none, guard_kind::canary, false}));

TEST(stack_pool_death_test, names_a_span_that_is_not_its_own) {
    stack_pool pool;
    auto const spans = take(pool, k_small, 1);
    std::vector<std::byte> foreign(k_small.bytes());
    EXPECT_DEATH(pool.release({foreign.data(), spans[0].size}),
                 "is no stack of the class of 16384 bytes");
    give(pool, spans);
}

#ifndef NDEBUG
TEST(stack_pool_death_test, finds_a_double_release) {
    stack_pool pool;
    span const one = pool.allocate(k_small);
    pool.release(one);
    EXPECT_DEATH(pool.release(one), "released twice");
}
#endif

TEST(stack_pool, mprotect_guards_are_rationed) {
    settings chosen;
    chosen.guard = guard_choice::mprotect;
    chosen.protect_limit = 700;
    stack_pool pool(chosen);
    auto const before = mapping_count();
    auto const spans = take(pool, k_small, 2000);
    ASSERT_EQ(spans.size(), 2000U);
    EXPECT_LE(mapping_count() - before, 2 * 700U + 20);
    EXPECT_EQ(pool.guard(), guard_kind::canary);
    EXPECT_EQ(pool.stats().unguarded, pool.stats().created - 700);
    give(pool, spans);
}

TEST(stack_pool, installed_guards_cost_no_mappings) {
    stack_pool pool;
    if (pool.guard() != guard_kind::install) {
        GTEST_SKIP() << "no guard regions before Linux 6.13";
    }
    auto const before = mapping_count();
    auto const spans = take(pool, k_small, 50'000);
    EXPECT_EQ(spans.size(), 50'000U);
    EXPECT_LT(mapping_count(), before + 30);
    give(pool, spans);
}

// -- a million

TEST(stack_pool, a_million_blocked_stacks) {
    TULLE_SKIP_IF_EMULATED("its own memory is counted, too");
    constexpr std::size_t k_count = k_sanitized ? 20'000 : 1'000'000;
    stack_pool pool;
    std::vector<span> spans(k_count);
    auto const resident = resident_bytes();
    auto const tables = status_bytes("VmPTE");
    for (span& one : spans) {
        one = pool.allocate(k_small);
        ASSERT_TRUE(one) << errno;
        std::memset(one.end() - 64, 1, 64);
    }
    if (!k_sanitized) {
        EXPECT_LE((resident_bytes() - resident) / k_count, 4096U + 32);
        EXPECT_LE((status_bytes("VmPTE") - tables) / k_count, 64U);
    }
    give(pool, spans);
    EXPECT_EQ(pool.stats().high_water, k_count);
}

TEST(stack_pool, a_million_compact_stacks) {
    constexpr std::size_t k_count = k_sanitized ? 20'000 : 1'000'000;
    stack_pool pool;
    std::vector<span> spans(k_count);
    auto const resident = resident_bytes();
    ASSERT_EQ(pool.allocate_many(k_compact, spans.data(), k_count), k_count);
    for (span const& one : spans) {
        std::memset(one.low, 1, one.size);
    }
    if (!k_sanitized) {
        EXPECT_LE((resident_bytes() - resident) / k_count, 1024U + 32);
    }
    give(pool, spans);
}

} // namespace
