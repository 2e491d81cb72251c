// SPDX-License-Identifier: Apache-2.0
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"
#include "sched/modes/guest.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

class guest_test : public over_workers {
protected:
    // Main lets its worker run threads meanwhile.
    template <class F> static void outside(F body) {
        std::atomic<bool> ended{false};
        std::thread other([&] {
            body();
            ended.store(true, std::memory_order_release);
        });
        yield_until(ended);
        other.join();
    }
};
INSTANTIATE_TEST_SUITE_P(workers, guest_test, ::testing::Values(1, 2, 4));

TEST_P(guest_test, forks_and_joins) {
    outside([] { EXPECT_EQ(fib(20), 6765); });
}

TEST_P(guest_test, spawns_and_joins) {
    outside([] {
        std::vector<thread<int>> threads;
        for (int k = 0; k < 100; ++k) {
            threads.push_back(spawn([k] {
                this_thread::yield();
                return k;
            }));
        }
        for (int k = 0; k < 100; ++k) EXPECT_EQ(threads[static_cast<std::size_t>(k)].join(), k);
    });
}

TEST_P(guest_test, has_no_worker_but_an_identity) {
    outside([] {
        EXPECT_EQ(this_thread::worker_index(), -1);
        EXPECT_EQ(this_thread::shepherd_index(), -1);
        thread_id const id = this_thread::get_id();
        EXPECT_NE(id, 0U);
        EXPECT_EQ(this_thread::get_id(), id);
        this_thread::set_name("visitor");
        EXPECT_EQ(this_thread::name(), "visitor");
        this_thread::yield();
    });
}

TEST_P(guest_test, waits_and_is_woken_by_threads) {
    outside([] {
        for (int k = 0; k < 200; ++k) {
            one_shot event;
            auto t = spawn([&event] { event.fire(); });
            event.wait();
            t.join();
        }
    });
}

TEST_P(guest_test, wakes_threads) {
    std::vector<one_shot> events(200);
    auto t = spawn([&events] {
        for (one_shot& e : events) e.wait();
    });
    outside([&events] {
        for (one_shot& e : events) e.fire();
    });
    t.join();
}

TEST_P(guest_test, wakes_main) {
    one_shot event;
    std::thread other([&event] { event.fire(); });
    event.wait();
    other.join();
}

TEST_P(guest_test, two_guests_wake_each_other) {
    constexpr std::size_t k_rounds = 500;
    std::vector<one_shot> ping(k_rounds), pong(k_rounds);
    std::thread one([&] {
        for (std::size_t k = 0; k < k_rounds; ++k) ping[k].fire(), pong[k].wait();
    });
    std::thread two([&] {
        for (std::size_t k = 0; k < k_rounds; ++k) ping[k].wait(), pong[k].fire();
    });
    one.join();
    two.join();
}

TEST_P(guest_test, exceptions_arrive) {
    outside([] {
        EXPECT_THROW(spawn([] { throw std::runtime_error("inside"); }).join(), std::runtime_error);
        auto child = fork([]() -> int { throw std::logic_error("inside"); });
        EXPECT_THROW(static_cast<void>(child.join()), std::logic_error);
    });
}

TEST_P(guest_test, children_are_stolen_while_it_computes) {
    outside([] {
        std::atomic<bool> ran{false};
        auto child = fork([&ran] { ran = true; });
        compute_until(ran);
        child.join();
        EXPECT_TRUE(ran);
    });
}

TEST_P(guest_test, many_come_and_go) {
    std::atomic<long> sum{0};
    for (int round = 0; round < 20; ++round) {
        std::vector<std::thread> guests;
        std::atomic<int> ended{0};
        for (int k = 0; k < 8; ++k) {
            guests.emplace_back([&] {
                sum.fetch_add(fib(8));
                spawn_detached([&sum] { sum.fetch_add(1); });
                sum.fetch_add(spawn([] { return 2; }).join());
                ended.fetch_add(1);
            });
        }
        while (ended.load() < 8) this_thread::yield();
        for (auto& g : guests) g.join();
    }
    while (sched::scheduler::instance().live_threads() != 0) this_thread::yield();
    EXPECT_EQ(sum.load(), 20 * 8 * (21 + 1 + 2));
}

// A record that had been joined already counted as a child that had not.
TEST_P(guest_test, ends_after_joins_out_of_order) {
    outside([] {
        auto older = fork([] { return 1; });
        auto younger = fork([] { return 2; });
        auto youngest = fork([] { return 3; });
        EXPECT_EQ(younger.join(), 2);
        EXPECT_EQ(older.join(), 1);
        EXPECT_EQ(youngest.join(), 3);
    });
}

long chain(long depth) {
    if (depth == 0) return 0;
    auto next = fork([depth] { return depth; });
    return chain(depth - 1) + next.join();
}

TEST_P(guest_test, ends_after_a_burst_of_children) {
    for (int round = 0; round < 5; ++round) {
        outside([] { EXPECT_EQ(chain(1000), 1000L * 1001 / 2); });
    }
}

TEST_P(guest_test, leaves_no_live_thread_behind) {
    std::vector<thread<int>> threads(10);
    outside([&threads] {
        for (auto& t : threads) t = spawn([] { return 1; });
    });
    for (auto& t : threads) EXPECT_EQ(t.join(), 1);
    EXPECT_EQ(sched::scheduler::instance().live_threads(), 0);
}

// --- across lives of the run time ----------------------------------------------------------------

// Its place in the list of guests was given back twice, and two later OS threads got the same one.
TEST(guest_life, guest_that_initializes_and_ends) {
    EXPECT_FALSE(is_initialized());
    std::thread([] {
        // Starts the run time, as a guest, and opens a larger deque.
        EXPECT_EQ(chain(600), 600L * 601 / 2);
        finalize();
        initialize({.workers = 2}); // the same OS thread is worker 0 now
        EXPECT_EQ(this_thread::worker_index(), 0);
        EXPECT_EQ(fib(15), 610);
        finalize();
    }).join();
    initialize({.workers = 2});
    one_shot a_may_end, b_may_end;
    std::atomic<sched::worker*> a{nullptr}, b{nullptr};
    std::thread first([&] {
        static_cast<void>(this_thread::get_id());
        a = sched::this_worker();
        a_may_end.wait();
    });
    std::thread second([&] {
        static_cast<void>(this_thread::get_id());
        b = sched::this_worker();
        b_may_end.wait();
    });
    while (a == nullptr || b == nullptr) std::this_thread::yield();
    EXPECT_NE(a.load(), b.load());
    a_may_end.fire();
    b_may_end.fire();
    first.join();
    second.join();
    finalize();
}

TEST(guest_life, guest_outlives_the_run_time) {
    initialize({.workers = 2});
    std::atomic<int> phase{0};
    std::thread guest([&] {
        EXPECT_EQ(fib(10), 55);
        phase = 1;
        while (phase != 2) std::this_thread::yield();
        EXPECT_EQ(fib(10), 55);                       // no workers: runs them itself
        EXPECT_EQ(spawn([] { return 5; }).join(), 5); // starts the run time again
        finalize();
    });
    while (phase != 1) std::this_thread::yield();
    finalize();
    phase = 2;
    guest.join();
    EXPECT_FALSE(is_initialized());
}

void end_with_a_child() {
    initialize({.workers = 1});
    std::thread([] { static_cast<void>(new child<void (*)()>([] {})); }).join();
}

TEST(guest_death_test, os_thread_ends_without_joining_its_children) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(end_with_a_child(),
                 "tulle: an OS thread ends with forked threads that it has not joined");
}

} // namespace
