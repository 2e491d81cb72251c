// SPDX-License-Identifier: Apache-2.0
#include <tulle/full_empty.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

TEST(full_empty, smoke) {
    tulle::full_empty<long> cell;
    EXPECT_FALSE(cell.is_full());
    cell.write_ef(3);
    EXPECT_TRUE(cell.is_full());
    EXPECT_EQ(cell.read_ff(), 3);
    EXPECT_EQ(cell.read_fe(), 3);
    EXPECT_EQ(cell.try_read_ff(), std::nullopt);
    EXPECT_EQ(cell.read_xx(), 3);
    cell.purge();
    EXPECT_EQ(cell.read_xx(), 0);
    EXPECT_EQ(tulle::full_empty<std::string*>(nullptr).read_ff(), nullptr);
}

TEST(full_empty, is_one_word_beside_the_value) {
    EXPECT_EQ(sizeof(tulle::full_empty<long>), 16U);
    EXPECT_EQ(sizeof(tulle::full_empty<char>), 16U);
}

TEST(full_empty, values_that_can_only_be_moved) {
    tulle::full_empty<std::unique_ptr<int>> cell;
    auto taker = tulle::spawn([&cell] { return *cell.read_fe() + *cell.read_fe(); });
    cell.write_ef(std::make_unique<int>(3));
    cell.write_ef(std::make_unique<int>(4));
    EXPECT_EQ(taker.join(), 7);
    cell.write_ef(std::make_unique<int>(5));
    auto kept = std::make_unique<int>(6);
    EXPECT_FALSE(cell.try_write_ef(std::move(kept)));
    ASSERT_NE(kept, nullptr); // it was not taken
    EXPECT_EQ(*kept, 6);
    EXPECT_TRUE(cell.try_write_ff_for(std::move(kept), 1s));
    EXPECT_EQ(*cell.try_read_fe_for(1s).value(), 6);
}

TEST(full_empty, readers_all_get_the_value_and_takers_one_each) {
    tulle::full_empty<int> cell;
    constexpr int k_readers = 200;
    std::vector<tulle::thread<int>> readers;
    for (int i = 0; i < k_readers; ++i)
        readers.push_back(tulle::spawn([&cell] { return cell.read_ff(); }));
    auto taker = tulle::spawn([&cell] { return cell.read_fe(); });
    while (cell.waiting().size() != k_readers + 1) tulle::this_thread::yield();
    auto const ids = cell.waiting();
    EXPECT_EQ(std::count(ids.begin(), ids.end(), taker.get_id()), 1);
    cell.write_ef(8);
    for (auto& r : readers) EXPECT_EQ(r.join(), 8);
    EXPECT_EQ(taker.join(), 8);
    EXPECT_FALSE(cell.is_full());
}

TEST(full_empty, may_be_destroyed_by_the_thread_that_has_the_value) {
    for (int i = 0; i < 3000; ++i) {
        auto cell = std::make_unique<tulle::full_empty<int>>();
        auto writer = tulle::spawn([p = cell.get(), i] { p->write_ef(i); });
        EXPECT_EQ(i % 2 == 0 ? cell->read_fe() : cell->read_ff(), i);
        cell.reset();
        writer.join();
    }
}

TEST(full_empty, a_pipeline) {
    constexpr int k_stages = 50;
    constexpr int k_items = 100;
    std::vector<tulle::full_empty<int>> pipe(k_stages + 1);
    std::vector<tulle::thread<void>> stages;
    for (std::size_t s = 0; s < k_stages; ++s) {
        stages.push_back(tulle::spawn([&pipe, s] {
            for (int i = 0; i < k_items; ++i) pipe[s + 1].write_ef(pipe[s].read_fe() + 1);
        }));
    }
    auto source = tulle::spawn([&pipe] {
        for (int i = 0; i < k_items; ++i) pipe[0].write_ef(i);
    });
    for (int i = 0; i < k_items; ++i) EXPECT_EQ(pipe[k_stages].read_fe(), i + k_stages);
    source.join();
    for (auto& s : stages) s.join();
}

} // namespace
