// SPDX-License-Identifier: Apache-2.0
// Shepherds: distances, moving, and workers and shepherds that are disabled while threads run.
#include "expect_error.hpp"
#include "runtime_fixture.hpp"
#include "standing_by.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tulle {
namespace {

struct run_time {
    run_time(int shepherds, int workers) {
        set_option("max_workers", std::to_string(workers + 1));
        set_option("shepherds", std::to_string(shepherds));
        initialize({workers, 0});
    }
    ~run_time() {
        finalize();
        set_option("workers", "auto");
        set_option("shepherds", "auto");
        set_option("max_workers", "auto");
    }
    run_time(run_time const&) = delete;
    run_time& operator=(run_time const&) = delete;
};

attributes at(int shepherd) {
    attributes how;
    how.shepherd = shepherd;
    return how;
}

// The loop that had run it kept the thread's place, and later threads with it.
TEST(shepherds, a_stolen_child_that_migrates_takes_no_later_thread_along) {
    run_time const running(2, 4);
    for (int k = 0; k < 100; ++k) {
        std::atomic<bool> began{false};
        auto moves = fork([&] {
            began = true;
            this_thread::migrate_to(k % 2);
        });
        compute_until(began);
        moves.join();
        std::atomic<int> placed_at{-2};
        auto stays = fork([&] { placed_at = sched::this_fiber().shepherd; });
        while (placed_at == -2) detail::cpu_pause();
        stays.join();
        ASSERT_EQ(placed_at, -1);
    }
}

TEST(shepherds, are_dealt_workers_in_turn_when_their_number_is_asked_for) {
    run_time const running(3, 6);
    ASSERT_EQ(shepherd_count(), 3);
    std::atomic<int> wrong{0};
    for (int s = 0; s < 3; ++s) {
        for (int k = 0; k < 50; ++k)
            spawn(at(s), [&, s] {
                wrong += this_thread::worker_index() % 3 != s || this_thread::shepherd_index() != s
                             ? 1
                             : 0;
            }).join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(shepherds, distances_and_neighbours) {
    run_time const running(4, 4);
    for (int from = 0; from < 4; ++from) {
        EXPECT_EQ(shepherd_distance(from, from), 0);
        std::vector<int> nearest = nearest_shepherds(from);
        for (std::size_t k = 1; k < nearest.size(); ++k)
            EXPECT_LE(shepherd_distance(from, nearest[k - 1]), shepherd_distance(from, nearest[k]));
        EXPECT_GE(shepherd_distance(from, nearest.front()), 10);
        nearest.push_back(from);
        std::sort(nearest.begin(), nearest.end());
        EXPECT_EQ(nearest, (std::vector<int>{0, 1, 2, 3}));
    }
    EXPECT_EQ(error_of([] { static_cast<void>(shepherd_distance(0, 4)); }), EINVAL);
    EXPECT_EQ(error_of([] { static_cast<void>(nearest_shepherds(-1)); }), EINVAL);
}

TEST(shepherds, near_to_data_is_anywhere_or_a_shepherd) {
    run_time const running(2, 2);
    std::vector<int> const data(1000);
    int const there = shepherd_of(data.data());
    EXPECT_GE(there, -1);
    EXPECT_LT(there, 2);
    EXPECT_EQ(near(data.data()).shepherd, there);
    EXPECT_TRUE(spawn(near(data.data()), [there] {
                    return there == -1 || this_thread::shepherd_index() == there;
                }).join());
}

TEST(migration, goes_there_stays_there_and_is_undone) {
    run_time const running(3, 3);
    EXPECT_EQ(error_of([] { this_thread::migrate_to(1); }), EPERM); // the thread that initialised
    std::thread([] { EXPECT_EQ(error_of([] { this_thread::migrate_to(1); }), EPERM); }).join();
    std::vector<thread<void>> threads;
    for (int t = 0; t < 20; ++t)
        threads.push_back(spawn(at(1), [t] { // there, so that its joiner does not run it itself
            for (int k = 0; k < 30; ++k) {
                this_thread::migrate_to((t + k) % 3);
                EXPECT_EQ(this_thread::shepherd_index(), (t + k) % 3);
                this_thread::yield();
                EXPECT_EQ(this_thread::shepherd_index(), (t + k) % 3);
            }
            EXPECT_EQ(error_of([] { this_thread::migrate_to(3); }), EINVAL);
            this_thread::migrate_to(-1);
        }));
    for (auto& t : threads) t.join();
}

TEST(disabled, shepherd_runs_nothing_and_its_threads_run_elsewhere) {
    run_time const running(3, 6);
    EXPECT_EQ(error_of([] { disable_shepherd(0); }), EPERM);
    EXPECT_EQ(error_of([] { disable_shepherd(3); }), EINVAL);
    for (int round = 0; round < 5; ++round) {
        disable_shepherd(1);
        disable_shepherd(1);
        EXPECT_FALSE(is_enabled_shepherd(1));
        EXPECT_EQ(worker_count(), 4);
        wait_until_workers_stand_by(2);
        std::atomic<int> wrong{0};
        std::vector<thread<void>> threads;
        for (int k = 0; k < 100; ++k)
            threads.push_back(spawn(at(1), [&] {
                this_thread::yield();
                wrong += this_thread::shepherd_index() == 1 ? 1 : 0;
            }));
        for (auto& t : threads) t.join();
        EXPECT_EQ(wrong, 0);
        enable_shepherd(1);
        EXPECT_TRUE(is_enabled_shepherd(1));
        EXPECT_EQ(worker_count(), 6);
        EXPECT_EQ(spawn(at(1), [] { return this_thread::shepherd_index(); }).join(), 1);
    }
}

TEST(disabled, worker_runs_nothing_until_it_is_enabled) {
    run_time const running(1, 3);
    EXPECT_EQ(error_of([] { disable_worker(0); }), EPERM);
    EXPECT_EQ(error_of([] { disable_worker(3); }), EINVAL); // it has never been wanted
    disable_worker(1);
    disable_worker(2);
    EXPECT_EQ(worker_count(), 1);
    wait_until_workers_stand_by(2);
    std::atomic<int> by_zero{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 300; ++k)
        threads.push_back(spawn([&] { by_zero += this_thread::worker_index() == 0 ? 1 : 0; }));
    for (auto& t : threads) t.join();
    EXPECT_EQ(by_zero, 300);
    enable_worker(2);
    EXPECT_EQ(worker_count(), 2);
    set_worker_count(4); // a disabled worker stays disabled
    EXPECT_EQ(worker_count(), 3);
    enable_worker(1);
    EXPECT_EQ(worker_count(), 4);
    std::atomic<bool> seen{false};
    auto busy = spawn([&] { // needs two workers
        auto other = spawn([&] { seen = true; });
        while (!seen) this_thread::yield();
        other.join();
    });
    busy.join();
}

// Their OS threads end after a second.
TEST(disabled, for_long_they_come_back) {
    run_time const running(2, 4);
    disable_shepherd(1);
    disable_worker(2);
    wait_until_workers_stand_by(3);
    this_thread::sleep_for(std::chrono::milliseconds(1300));
    enable_shepherd(1);
    EXPECT_EQ(worker_count(), 3);
    EXPECT_EQ(spawn(at(1), [] { return this_thread::shepherd_index(); }).join(), 1);
    enable_worker(2);
    EXPECT_EQ(worker_count(), 4);
    std::atomic<int> met{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 4; ++k) // which needs four workers
        threads.push_back(spawn([&] {
            for (++met; met != 4;) std::this_thread::yield();
        }));
    for (auto& t : threads) t.join();
}

TEST(disabled, by_many_threads_while_others_compute) {
    run_time const running(2, 4);
    std::atomic<bool> stop{false};
    auto changer = spawn([&] {
        for (int k = 0; k < 300; ++k) {
            int const w = 1 + k % 3;
            disable_worker(w);
            if (k % 3 == 0) disable_shepherd(1);
            this_thread::yield();
            enable_shepherd(1);
            enable_worker(w);
        }
        stop = true;
    });
    std::atomic<long> done{0};
    long expected = 0;
    while (!stop) {
        std::vector<thread<void>> threads;
        for (int k = 0; k < 40; ++k)
            threads.push_back(spawn(at(k % 3 - 1), [&] {
                this_thread::yield();
                ++done;
            }));
        for (auto& t : threads) t.join();
        expected += 40;
    }
    changer.join();
    EXPECT_EQ(done, expected);
    EXPECT_EQ(worker_count(), 4);
}

} // namespace
} // namespace tulle
