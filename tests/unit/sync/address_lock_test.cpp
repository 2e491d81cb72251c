// SPDX-License-Identifier: Apache-2.0
#include "one_worker.hpp"
#include "runtime_fixture.hpp"
#include "sync/locked_addresses.hpp"

#include <tulle/address_lock.hpp>
#include <tulle/feb.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

class address_lock_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, address_lock_test, ::testing::Values(1, 2, 4));

TEST_P(address_lock_test, smoke) {
    std::array<char, 3> bytes{};
    address_lock first(&bytes[0]), second(&bytes[1]);
    std::scoped_lock const both(first, second);
    EXPECT_FALSE(address_lock(&bytes[0]).try_lock());
    EXPECT_FALSE(address_lock(&bytes[1]).try_lock_for(200us));
    EXPECT_FALSE(address_lock(&bytes[1]).try_lock_until(std::chrono::steady_clock::now() + 200us));
    EXPECT_TRUE(address_lock(&bytes[2]).try_lock());
    address_lock(&bytes[2]).unlock();
}

TEST_P(address_lock_test, memory_is_not_touched) {
    address_lock nowhere(reinterpret_cast<void const*>(std::uintptr_t{0x1003}));
    std::lock_guard const held(nowhere);
    EXPECT_FALSE(nowhere.try_lock());
}

TEST_P(address_lock_test, excludes_threads_of_all_kinds) {
    constexpr int k_rounds = 300;
    std::array<long, 4> counts{};
    auto const count = [&counts] {
        for (int i = 0; i < k_rounds; ++i) {
            for (long& c : counts) {
                address_lock lock(&c);
                std::lock_guard const held(lock);
                long const before = c;
                if (i % 7 == 0) this_thread::yield();
                c = before + 1;
            }
        }
    };
    latch ended(2); // main may be the only worker
    std::array<std::thread, 2> foreign;
    for (auto& t : foreign) t = std::thread([&] { count(), ended.count_down(); });
    std::vector<thread<void>> threads;
    for (int i = 0; i < 10; ++i) threads.push_back(spawn(count));
    for (auto& t : threads) t.join();
    ended.wait();
    for (auto& t : foreign) t.join();
    for (long const c : counts) EXPECT_EQ(c, 12 * k_rounds);
}

TEST_P(address_lock_test, waiters_are_served_in_the_order_of_their_coming) {
    char byte = 0;
    address_lock lock(&byte);
    std::vector<int> order;
    lock.lock();
    std::vector<thread<void>> threads;
    for (int i = 0; i < 20; ++i) {
        threads.push_back(spawn([&lock, &order, i] {
            std::lock_guard const held(lock);
            order.push_back(i);
        }));
        while (feb::waiting(byte).size() != static_cast<std::size_t>(i) + 1) this_thread::yield();
    }
    lock.unlock();
    for (auto& t : threads) t.join();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(address_lock_test, another_thread_may_unlock) {
    char byte = 0;
    address_lock(&byte).lock();
    spawn([&byte] { address_lock(&byte).unlock(); }).join();
    EXPECT_TRUE(address_lock(&byte).try_lock());
    address_lock(&byte).unlock();
}

// One after the other, as memory is used again: no mixing.
TEST_P(address_lock_test, an_address_may_be_used_as_a_word_afterwards) {
    std::uint64_t memory = 0;
    for (int round = 0; round < 200; ++round) {
        address_lock lock(&memory);
        lock.lock();
        auto waiter = spawn([&memory, &lock] {
            lock.lock();
            lock.unlock();
            feb::purge(memory);
            feb::write_ef(memory, 4);
        });
        lock.unlock();
        waiter.join();
        EXPECT_EQ(feb::read_fe(memory), 4U);
        feb::fill(memory);
    }
}

TEST(address_lock_fork, in_a_child_process_a_lock_is_as_it_was) {
    // A thread that starts beside the fork may leave a sanitizer's allocator locked in the child.
    one_worker const alone;
    static char s_byte = 0;
    address_lock lock(&s_byte);
    lock.lock();
    pid_t const child = fork();
    if (child == 0) _exit(lock.try_lock() ? 1 : 0);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    lock.unlock();
}

// --- what debug builds find ----------------------------------------------------------------------

class address_lock_death_test : public ::testing::Test {
protected:
    void TearDown() override {
        if (is_initialized()) finalize();
    }
    void SetUp() override {
        if (!sync::k_check_addresses)
            GTEST_SKIP() << "a release build does not look; checked.address_lock does in each";
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
    std::uint64_t m_word = 0;
};

TEST_F(address_lock_death_test, a_full_empty_operation_on_a_locked_address) {
    address_lock lock(&m_word);
    std::lock_guard const held(lock);
    EXPECT_DEATH(static_cast<void>(feb::try_read_fe(m_word)),
                 "address 0x[0-9a-f]+ is used as a full/empty word while 1 threads have locked it");
    EXPECT_DEATH(feb::fill(m_word), "use one or the other");
    EXPECT_DEATH(feb::write_ef(m_word, 1), "use one or the other");
    EXPECT_DEATH(static_cast<void>(feb::is_full(m_word)), "use one or the other");
}

TEST_F(address_lock_death_test, a_lock_of_an_empty_word) {
    feb::empty(m_word);
    EXPECT_DEATH(address_lock(&m_word).lock(),
                 "address 0x[0-9a-f]+ is locked while it is an empty full/empty word");
    EXPECT_DEATH(static_cast<void>(address_lock(&m_word).try_lock()), "use one or the other");
    feb::fill(m_word);
}

TEST_F(address_lock_death_test, an_unlock_of_what_nobody_has_locked) {
    EXPECT_DEATH(address_lock(&m_word).unlock(),
                 "address 0x[0-9a-f]+ is unlocked, but nobody has locked it");
}

} // namespace
