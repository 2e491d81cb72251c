// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include <thread>
#include <vector>

namespace {

using namespace tulle;

class find_work_test : public ::testing::TestWithParam<char const*> {
protected:
    void SetUp() override {
        set_option("shepherds", GetParam());
        initialize({.workers = 2});
    }
    void TearDown() override {
        finalize();
        set_option("shepherds", "auto");
    }
    // Nobody helps the thief: the owner stays away from the run time until all are stolen.
    static void compute_until_all_ran(std::atomic<int> const& ran, int all) {
        while (ran.load(std::memory_order_acquire) < all) detail::cpu_pause();
    }
};
INSTANTIATE_TEST_SUITE_P(shepherds, find_work_test, ::testing::Values("1", "2"));

TEST_P(find_work_test, records_of_a_worker_that_computes_are_all_stolen) {
    std::atomic<int> ran{0};
    scope s;
    for (int k = 0; k < 1000; ++k) s.spawn([&ran] { ran.fetch_add(1, std::memory_order_release); });
    compute_until_all_ran(ran, 1000);
    s.join();
}

TEST_P(find_work_test, records_that_fill_several_deques_are_all_stolen) {
    std::atomic<int> ran{0};
    scope s;
    for (int k = 0; k < 40000; ++k) s.spawn([&ran] { ran.fetch_add(1, std::memory_order_release); });
    compute_until_all_ran(ran, 40000);
    s.join();
}

TEST_P(find_work_test, records_forked_after_the_thief_fell_asleep_are_stolen) {
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> ran{0};
        auto child = fork([&ran] { ran.fetch_add(1, std::memory_order_release); });
        compute_until_all_ran(ran, 1);
        child.join();
        auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(round * 2);
        while (std::chrono::steady_clock::now() < until) detail::cpu_pause();
    }
}

TEST_P(find_work_test, ready_threads_of_a_worker_that_computes_are_stolen) {
    std::atomic<int> ran{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 200; ++k) {
        threads.push_back(spawn([&ran] {
            this_thread::yield();
            ran.fetch_add(1, std::memory_order_release);
        }));
    }
    compute_until_all_ran(ran, 200);
    for (auto& t : threads) t.join();
}

TEST_P(find_work_test, threads_woken_by_a_worker_that_computes_run_elsewhere) {
    std::vector<one_shot> events(200);
    std::atomic<int> waiting{0}, ran{0};
    std::vector<thread<void>> threads;
    for (one_shot& e : events) {
        threads.push_back(spawn([&] {
            waiting.fetch_add(1);
            e.wait();
            ran.fetch_add(1, std::memory_order_release);
        }));
    }
    while (waiting.load() < 200) this_thread::yield();
    for (one_shot& e : events) e.fire();
    compute_until_all_ran(ran, 200);
    for (auto& t : threads) t.join();
}

// The oldest thread of the queue was main, which only its own worker may run: the thief looked no further.
TEST_P(find_work_test, thread_behind_main_is_stolen_while_the_worker_computes) {
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> ran{0};
        attributes first;
        first.child_first = true;
        auto t = spawn(first, [&ran] { // main waits in the queue of this worker now
            if (this_thread::worker_index() != 0) return ran.store(1);
            auto behind = spawn([&ran] { ran.store(1, std::memory_order_release); });
            compute_until_all_ran(ran, 1);
            behind.join();
        });
        t.join();
        ASSERT_EQ(ran.load(), 1);
    }
}

// The records of a thread that waits are found, though no worker stands on its stack.
TEST_P(find_work_test, records_of_a_suspended_thread_are_stolen) {
    for (int round = 0; round < 100; ++round) {
        one_shot event;
        auto t = spawn([&event] {
            scope s;
            for (int k = 0; k < 20; ++k) s.spawn([] {});
            s.spawn([&event] { event.fire(); });
            event.wait();
            s.join();
        });
        t.join();
    }
}

} // namespace
