// SPDX-License-Identifier: Apache-2.0
#include "sched/stacks/stack_use.hpp"

#include "base/sanitize.hpp"
#include "emulated.hpp"
#include "os/memory.hpp"
#include "stack/stack_pool.hpp"
#include "test_fiber.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using sched::stack_use;
using sched::stack_user;

constexpr char const* k_small_pages =
    "mincore answers for the pages of the machine below, of which there are more";

class stack_in_use : public ::testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override {
        if (are_pages_emulated()) GTEST_SKIP() << k_small_pages;
        own = pool.allocate(stack::class_for(GetParam()));
    }
    void TearDown() override {
        if (own) pool.release(own);
    }

    stack::stack_pool pool;
    stack::span own;
};

TEST_P(stack_in_use, one_that_is_fresh_is_not_used) { EXPECT_EQ(sched::used_bytes(own), 0U); }

TEST_P(stack_in_use, the_lowest_word_counts) {
    for (std::size_t const depth : {std::size_t{8}, own.size / 2, own.size}) {
        std::size_t const rounded = depth / 8 * 8;
        *(own.end() - rounded) = std::byte{1};
        EXPECT_EQ(sched::used_bytes(own), rounded);
    }
}

TEST_P(stack_in_use, looking_brings_no_pages_into_memory) {
    if (own.size < 65536) GTEST_SKIP() << "few pages";
    *(own.end() - 8) = std::byte{1};
    static_cast<void>(sched::used_bytes(own));
    std::vector<unsigned char> present(own.size / os::page_size());
    ASSERT_EQ(::mincore(own.low, own.size, present.data()), 0);
    EXPECT_EQ(std::count_if(present.begin(), present.end(),
                            [](unsigned char page) { return (page & 1U) != 0; }),
              1);
}

INSTANTIATE_TEST_SUITE_P(sizes, stack_in_use, ::testing::Values(1024, 16384, 262144, 8 << 20));

struct deep_fiber {
    stack::span own;
    std::size_t first = 0, second = 0, third = 0;
};

template <std::size_t bytes> TULLE_NO_SANITIZE void use() {
    volatile char local[bytes];
    for (std::size_t k = 0; k < bytes; k += 64) local[k] = 1;
    static_cast<void>(local[0]);
}

// On that stack: what a loop does around a thread.
void measure(deep_fiber& d) {
    sched::clear_unused(d.own);
    use<100'000>();
    d.first = sched::used_bytes(d.own);
    d.second = sched::used_bytes(d.own); // nothing is cleared by that
    sched::clear_unused(d.own);
    use<10'000>();
    d.third = sched::used_bytes(d.own);
}

TEST(stack_use, a_stack_that_was_used_deeper_before_is_measured_anew) {
    if (are_pages_emulated()) GTEST_SKIP() << k_small_pages;
    deep_fiber d;
    test_fiber<arch::backend> on_its_stack([&d](auto&) { measure(d); });
    d.own = {on_its_stack.low(), test_fiber<arch::backend>::k_stack};
    on_its_stack.resume();
    EXPECT_GE(d.first, 100'000U);
    EXPECT_LE(d.first, 104'000U + arch::backend::k_saved_bytes);
    EXPECT_EQ(d.second, d.first);
    EXPECT_GE(d.third, 10'000U);
    EXPECT_LE(d.third, 14'000U + arch::backend::k_saved_bytes);
}

std::vector<stack_use> all(sched::stack_uses& uses) {
    std::vector<stack_use> found;
    found.reserve(sched::stack_uses::k_most_users);
    uses.visit(
        [](void* to, stack_use const& seen) {
            static_cast<std::vector<stack_use>*>(to)->push_back(seen);
        },
        &found);
    return found;
}

stack_user user(std::uintptr_t site, bool is_forked = false, std::size_t bytes = 65536) {
    return {reinterpret_cast<void const*>(site), is_forked, bytes};
}

TEST(stack_uses, keeps_count_mean_and_most) {
    auto const uses = std::make_unique<sched::stack_uses>();
    for (std::size_t const bytes : {5000U, 9000U, 1000U}) uses->add(user(0x1000), bytes);
    auto const found = all(*uses);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].threads, 3U);
    EXPECT_EQ(found[0].sum_of_bytes, 15000U);
    EXPECT_EQ(found[0].most_bytes, 9000U);
}

TEST(stack_uses, sites_kinds_and_sizes_are_apart) {
    auto const uses = std::make_unique<sched::stack_uses>();
    for (stack_user const& each :
         {user(0x1000), user(0x1001), user(0x1000, true), user(0x1000, false, 16384)})
        uses->add(each, 1);
    EXPECT_EQ(all(*uses).size(), 4U);
}

TEST(stack_uses, what_does_not_fit_is_counted) {
    auto const uses = std::make_unique<sched::stack_uses>();
    for (std::uintptr_t k = 0; k < sched::stack_uses::k_most_users + 10; ++k)
        uses->add(user(0x1000 + k), 1);
    EXPECT_EQ(all(*uses).size(), sched::stack_uses::k_most_users);
    EXPECT_EQ(uses->left_out(), 10U);
    uses->add(user(0x1000), 7); // one that is known
    EXPECT_EQ(uses->left_out(), 10U);
}

TEST(stack_uses, any_thread_may_add) {
    auto const uses = std::make_unique<sched::stack_uses>();
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&uses] {
            for (std::uintptr_t n = 0; n < 10'000; ++n) uses->add(user(0x1000 + n % 50), n);
        });
    }
    for (auto& t : threads) t.join();
    std::uint64_t sum = 0;
    for (auto const& use : all(*uses)) sum += use.threads;
    EXPECT_EQ(sum, 40'000U);
}

} // namespace
