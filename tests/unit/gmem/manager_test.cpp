// SPDX-License-Identifier: Apache-2.0
#include "gmem/manager.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace {

using tulle::gmem::algorithm;
using tulle::gmem::k_anywhere;
using tulle::gmem::k_grain;
using tulle::gmem::manager;
using tulle::gmem::memory_status;

constexpr std::uint64_t k_manager_low = 0x200000;
constexpr std::uint64_t k_manager_each = 0x1000;

class memory_manager : public testing::Test {
protected:
    manager m_manager{algorithm::first_fit, k_manager_low, 4, 3, k_manager_each}; // places 4, 5, 6
};

TEST_F(memory_manager, allocates_in_the_segment_that_is_asked_for) {
    for (unsigned at = 4; at < 7; ++at) {
        auto const got = m_manager.allocate(10, 9, at);
        ASSERT_EQ(got.status, memory_status::done);
        EXPECT_EQ((got.value - k_manager_low) / k_manager_each, at - 4);
    }
    EXPECT_EQ(m_manager.allocate(k_manager_each, 9, 5).status, memory_status::no_room);
    EXPECT_EQ(m_manager.allocate(k_manager_each - k_grain, 9, 5).status, memory_status::done);
}

TEST_F(memory_manager, knows_who_has_what) {
    auto const a = m_manager.allocate(100, 1, k_anywhere).value;
    auto const b = m_manager.allocate(2 * k_manager_each, 6, k_anywhere).value;
    auto const all = m_manager.list();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].address, a);
    EXPECT_EQ(all[0].bytes, 100U);
    EXPECT_EQ(all[0].owner, 1U);
    EXPECT_EQ(all[1].address, b);
    EXPECT_EQ(all[1].owner, 6U);
    EXPECT_EQ(m_manager.size_of(a).value, 100U);
}

TEST_F(memory_manager, refuses_what_does_not_begin_an_allocation) {
    auto const a = m_manager.allocate(1000, 4, k_anywhere).value;
    EXPECT_EQ(m_manager.release(a + k_grain).status, memory_status::unknown);
    EXPECT_EQ(m_manager.size_of(a + 1).status, memory_status::unknown);
    auto const done = m_manager.release(a);
    EXPECT_EQ(done.status, memory_status::done);
    EXPECT_EQ(done.value, 1000U);
    EXPECT_EQ(m_manager.release(a).status, memory_status::unknown);
    EXPECT_EQ(m_manager.free_bytes(), 3 * k_manager_each);
}

TEST_F(memory_manager, refuses_nothing_and_too_much) {
    for (std::uint64_t const bytes : {std::uint64_t{0}, 3 * k_manager_each + 1, ~std::uint64_t{0}})
        EXPECT_EQ(m_manager.allocate(bytes, 4, k_anywhere).status, memory_status::no_room) << bytes;
}

TEST(memory_managers, serve_several_threads) {
    manager of(algorithm::buddy, k_manager_low, 0, 2, 1U << 20U);
    std::vector<std::thread> all;
    for (unsigned t = 0; t < 4; ++t)
        all.emplace_back([&of, t] {
            std::vector<std::uint64_t> mine;
            for (unsigned k = 0; k < 2000; ++k) {
                if (k % 3 == 2) {
                    EXPECT_EQ(of.release(mine.back()).status, memory_status::done);
                    mine.pop_back();
                } else {
                    mine.push_back(of.allocate(1 + k % 900, t, k_anywhere).value);
                }
            }
            for (auto const address : mine)
                EXPECT_EQ(of.release(address).status, memory_status::done);
        });
    for (auto& one : all) one.join();
    EXPECT_EQ(of.free_bytes(), 2U << 20U);
    EXPECT_TRUE(of.list().empty());
}

} // namespace
