// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"
#include "system_wake_up.hpp"

#include <algorithm>
#include <chrono>
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
    for (int k = 0; k < 40000; ++k)
        s.spawn([&ran] { ran.fetch_add(1, std::memory_order_release); });
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

// They came one at each probe for others' threads, of which there is one in some 30 turns of own
// threads: a server of 1,000 connections answered some after 200 ms, where the watcher had polled.
TEST(find_work_of_one_worker, threads_woken_from_outside_are_soon_among_those_of_a_busy_worker) {
    initialize({.workers = 1});
    constexpr int k_woken = 200;
    constexpr int k_most_yields = 2'000; // some 6,000 by one at a time, 300 by half of them
    {
        std::vector<one_shot> events(k_woken);
        std::atomic<int> waiting{0}, ran{0};
        scope threads;
        for (one_shot& e : events)
            threads.spawn([&] {
                waiting.fetch_add(1);
                e.wait();
                ran.fetch_add(1);
            });
        threads.spawn([&ran] {
            while (ran.load() < k_woken) this_thread::yield();
        });
        while (waiting.load() < k_woken) this_thread::yield();
        std::atomic<bool> are_woken{false};
        std::thread outside([&] {
            for (one_shot& e : events) e.fire();
            are_woken.store(true);
        });
        while (!are_woken.load()) detail::cpu_pause();
        int yields = 0;
        for (; ran.load() < k_woken; ++yields) this_thread::yield();
        EXPECT_LT(yields, k_most_yields);
        threads.join();
        outside.join();
    }
    finalize();
}

// The oldest thread of the queue was main, which only its own worker may run: the thief looked no
// further.
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

// --- how soon a worker that sleeps takes what another one makes, which then computes on ----------

// The other worker alone can run it, and nobody but the maker wakes it: a wake-up that is lost
// shows as a time that is not bounded.
class wake_up_test : public ::testing::Test {
protected:
    using clock = std::chrono::steady_clock;
    static constexpr int k_tries = 200;
    // Far more than it takes; far less than until the sleeper looks by itself.
    static constexpr std::chrono::milliseconds k_soon{2};
    static constexpr std::chrono::milliseconds k_never{100}; // then nobody waits for it any more

    void SetUp() override {
        set_option("max_substitutes", "off");
        initialize({.workers = 2});
    }
    void TearDown() override { finalize(); }

    // In an attempt: waits until the other workers sleep, makes work that calls note_run(), and
    // computes until that has happened. What counts is when it did: this thread may be late to see
    // it.
    template <class Make> void time(Make make) {
        await_sleep();
        m_has_run.store(false);
        auto const begin = clock::now();
        make();
        // The system may run others; this thread does not come back to the scheduler.
        while (!m_has_run.load() && clock::now() - begin < k_never) std::this_thread::yield();
        m_times.push_back(m_has_run.load() ? m_ran_at - begin : k_never);
    }
    void note_run() {
        m_ran_at = clock::now();
        m_has_run.store(true);
    }
    [[nodiscard]] virtual std::uint32_t sleepers() const { return 1; }

    // For long enough that they do not look round any more.
    void await_sleep() const {
        auto const all_sleep = [this] {
            return sched::scheduler::instance().idle().sleeping() == sleepers();
        };
        do {
            while (!all_sleep()) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        } while (!all_sleep());
    }
    template <class Attempt> clock::duration median_of_tries(Attempt attempt) {
        m_times.clear();
        int too_late = 0;
        for (int k = 0; k < k_tries && too_late < 5; ++k) {
            attempt();
            too_late += static_cast<int>(m_times.back() >= k_never);
        }
        auto const middle =
            m_times.begin() +
            static_cast<std::ptrdiff_t>(too_late == 5 ? m_times.size() - 1 : m_times.size() / 2);
        std::nth_element(m_times.begin(), middle, m_times.end());
        return *middle;
    }
    // Other programs may have the processors for a while; beside some that always compute, the
    // system itself takes slices of their time to wake an OS thread.
    template <class Attempt> void expect_soon(Attempt attempt) {
        clock::duration median{};
        for (int again = 0; again < 5; ++again) {
            median = median_of_tries(attempt);
            if (median <= k_soon || median <= 4 * median_system_wake_up(k_never)) return;
        }
        ADD_FAILURE() << "median "
                      << std::chrono::duration_cast<std::chrono::microseconds>(median).count()
                      << " us";
    }

private:
    std::atomic<bool> m_has_run{false};
    clock::time_point m_ran_at{}; // published by it
    std::vector<clock::duration> m_times;
};

TEST_F(wake_up_test, takes_a_forked_record_soon) {
    expect_soon([this] {
        scope s;
        time([&] { s.spawn([this] { note_run(); }); });
        s.join();
    });
}

TEST_F(wake_up_test, takes_a_spawned_thread_soon) {
    expect_soon([this] {
        thread<void> t;
        time([&] { t = spawn([this] { note_run(); }); });
        t.join();
    });
}

TEST_F(wake_up_test, takes_a_resumed_thread_soon) {
    expect_soon([this] {
        one_shot event;
        auto t = spawn([&] {
            event.wait();
            note_run();
        });
        this_thread::yield(); // it waits, or the other worker is about to run it
        time([&] { event.fire(); });
        t.join();
    });
}

// The maker tells one worker of the first record, and nobody of the second, since that one
// searches: it wakes the next when it has found work.
class two_sleepers_test : public wake_up_test {
protected:
    void SetUp() override {
        set_option("max_substitutes", "off");
        initialize({.workers = 3});
    }
    [[nodiscard]] std::uint32_t sleepers() const override { return 2; }
};

TEST_F(two_sleepers_test, take_two_records_that_need_each_other_soon) {
    expect_soon([this] {
        std::atomic<int> begun{0};
        std::atomic<bool> is_over{false};
        scope s;
        auto const child = [&] {
            if (begun.fetch_add(1) == 1) note_run();
            while (begun.load() < 2 && !is_over.load()) std::this_thread::yield();
        };
        time([&] {
            s.spawn(child);
            s.spawn(child);
        });
        is_over.store(true);
        s.join();
    });
}

} // namespace
