// SPDX-License-Identifier: Apache-2.0
//
// Spawners that run ahead of the threads that they spawn are held up by the option max_unstarted.
#include "runtime_fixture.hpp"

#include "sched/watch/census.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

constexpr std::uint64_t k_most = 500;
constexpr int k_many = 50'000;

class run_ahead_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        set_option("max_unstarted", std::to_string(k_most));
        set_option("max_substitutes", "off"); // they have queues, too
        initialize({.workers = GetParam()});
    }
    void TearDown() override {
        finalize();
        set_option("max_unstarted", "1048576");
    }
    // The most that were in queues after a spawn.
    template <class Spawn> std::uint64_t peak_of(Spawn spawn_one) {
        std::uint64_t peak = 0;
        for (int k = 0; k < k_many; ++k) {
            spawn_one([this] { m_done.fetch_add(1, std::memory_order_relaxed); });
            peak = std::max(peak, sched::census(sched::scheduler::instance()).unstarted().all());
        }
        while (m_done.load(std::memory_order_relaxed) != k_many) this_thread::yield();
        return peak;
    }
    // Each worker has a queue; a look while a thief carries records from one to the other counts
    // them in both, again and again if the one who looks is held up. Still few of k_many.
    [[nodiscard]] static std::uint64_t bound() {
        return (GetParam() == 1 ? 1U : 10U) * (k_most + 1);
    }
    std::atomic<int> m_done{0};
};
INSTANTIATE_TEST_SUITE_P(workers, run_ahead_test, ::testing::Values(1, 2));

TEST_P(run_ahead_test, detached_threads_do_not_pile_up) {
    EXPECT_LE(peak_of([](auto f) { spawn_detached(f); }), bound());
}

TEST_P(run_ahead_test, those_of_a_thread_do_not_pile_up) {
    auto const spawner = [this] { return peak_of([](auto f) { spawn_detached(f); }); };
    EXPECT_LE(spawn(spawner).join(), bound());
}

// Such a spawner cannot run them. It is held up for a moment each time, in which workers come
// after.
TEST_P(run_ahead_test, those_of_a_foreign_thread_do_not_pile_up) {
    std::uint64_t peak = 0;
    latch done(1);
    std::thread foreign([&] {
        peak = peak_of([](auto f) { spawn_detached(f); });
        done.count_down();
    });
    done.wait();
    foreign.join();
    EXPECT_LE(peak, 3 * k_most);
}

TEST_P(run_ahead_test, those_that_are_placed_do_not_pile_up) {
    EXPECT_LE(peak_of([](auto f) { spawn_detached({.shepherd = 0}, f); }), 3 * k_most);
}

// Each starts the threads of its continuations behind many others, and is suspended meanwhile.
TEST_P(run_ahead_test, those_of_futures_come_though_who_starts_them_is_suspended) {
    constexpr int k_futures = 4000;
    std::vector<thread<void>> makers;
    std::atomic<int> done{0};
    for (int m = 0; m < 4; ++m)
        makers.push_back(spawn([&done] {
            for (int k = 0; k < k_futures; ++k) {
                promise<int> kept;
                future<int> const last =
                    kept.get_future().then([](int v) { return v + 1; }).then([&done](int v) {
                        done += v == 2 ? 1 : 0;
                        return v;
                    });
                kept.set_value(1);
                if (k % 64 == 0) this_thread::yield();
            }
        }));
    for (auto& m : makers) m.join();
    while (done != 4 * k_futures) this_thread::yield();
}

// It may hold what the threads want that would run in its place.
TEST_P(run_ahead_test, a_spawner_that_handles_messages_is_not_held_up) {
    constexpr int k_spawned = 2 * k_most;
    std::atomic<int> in_its_place{0};
    spawn([&] {
        bool& delivers = sched::this_worker()->delivers;
        std::atomic<bool> spawns{true};
        delivers = true;
        for (int k = 0; k < k_spawned; ++k)
            spawn_detached([&, here = std::this_thread::get_id()] {
                if (std::this_thread::get_id() == here && spawns.load()) in_its_place.fetch_add(1);
                m_done.fetch_add(1);
            });
        spawns.store(false);
        delivers = false;
        while (m_done.load() != k_spawned) this_thread::yield();
    }).join();
    EXPECT_EQ(in_its_place.load(), 0);
}

// Nobody waits for a thread that waits for the spawner: it goes on when the thread does.
TEST_P(run_ahead_test, threads_that_wait_for_their_spawner_do_not_stop_it) {
    latch spawned(1);
    latch ended(2000);
    for (int k = 0; k < 2000; ++k) {
        spawn_detached([&] {
            spawned.wait();
            ended.count_down();
        });
    }
    spawned.count_down();
    ended.wait();
}

} // namespace
