// SPDX-License-Identifier: Apache-2.0
// The queues that all workers share, without workers.
#include "sched/queues/injector.hpp"
#include "sched/records/thread_record.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

struct ready_fiber : runnable {
    ready_fiber() : runnable(runnable_kind::fiber) {}
};

struct injector_test : ::testing::Test {
    injector_test() {
        for (int k = 0; k < 3; ++k)
            shepherds.push_back(std::make_unique<shepherd>(k, std::vector<int>{k}));
        for (auto const& s : shepherds) s->active.store(1);
        // That of the queue, and one that the test keeps.
        for (thread_record& t : threads) t.references.store(2);
    }
    shepherd& at(std::size_t index) { return *shepherds[index]; }

    std::array<ready_fiber, 4> fibers;
    std::array<thread_record, 4> threads;
    injector::shepherd_list shepherds;
    injector queues{shepherds};
};

TEST_F(injector_test, empty_queues_give_nothing) {
    EXPECT_EQ(queues.take_at_home(at(0)), nullptr);
    EXPECT_EQ(injector::take_from(at(1)), nullptr);
    EXPECT_EQ(queues.take_unstarted(), nullptr);
    EXPECT_EQ(queues.take_started(at(0)), nullptr);
    EXPECT_FALSE(queues.has_work(at(0)));
}

TEST_F(injector_test, threads_for_anyone_go_to_the_shepherds_in_turn) {
    for (std::size_t k = 0; k < 3; ++k) queues.push_injected(fibers[k]);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(injector::take_from(at(k)), &fibers[k]);
    EXPECT_FALSE(queues.has_injected());
}

TEST_F(injector_test, placed_threads_are_for_their_shepherd_only) {
    EXPECT_EQ(&queues.push_placed(fibers[0], 1), &at(1));
    EXPECT_TRUE(queues.has_placed());
    EXPECT_FALSE(queues.has_work(at(0)));
    EXPECT_TRUE(queues.has_work(at(1)));
    EXPECT_EQ(queues.take_at_home(at(0)), nullptr);
    EXPECT_EQ(injector::take_from(at(1)), nullptr);
    EXPECT_EQ(queues.take_at_home(at(1)), &fibers[0]);
    EXPECT_FALSE(queues.has_placed());
}

TEST_F(injector_test, anyone_takes_what_was_placed_where_no_worker_is_active) {
    queues.push_placed(fibers[0], 1);
    at(1).active.store(0);
    EXPECT_TRUE(queues.has_work(at(0)));
    EXPECT_EQ(injector::take_from(at(1)), &fibers[0]);
}

TEST_F(injector_test, a_worker_takes_placed_threads_first_then_those_without_a_stack) {
    for (std::size_t k = 0; k < 3; ++k) queues.push_injected(fibers[k]);
    queues.push_unstarted(threads[0]);
    queues.push_placed(fibers[3], 0);
    EXPECT_EQ(queues.take_at_home(at(0)), &fibers[3]);
    EXPECT_EQ(queues.take_at_home(at(0)), &threads[0]);
    EXPECT_EQ(queues.take_at_home(at(0)), &fibers[0]);
    EXPECT_EQ(queues.take_at_home(at(0)), nullptr);
}

TEST_F(injector_test, a_worker_takes_half_of_what_follows_and_has_a_stack) {
    shared_queue& queue = at(0).injected;
    EXPECT_EQ(injector::take_more(at(0)).pop_front(), nullptr);
    for (ready_fiber& f : fibers) queue.push(f);
    queue.push(threads[0]);
    runnable_list half = injector::take_more(at(0)); // three of five
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(half.pop_front(), &fibers[k]);
    EXPECT_EQ(half.pop_front(), nullptr);
    EXPECT_EQ(injector::take_more(at(0)).pop_front(), &fibers[3]);
    EXPECT_EQ(injector::take_more(at(0)).pop_front(), nullptr); // it has no stack
    EXPECT_EQ(queue.size_hint(), 1U);
    EXPECT_EQ(queue.started_hint(), 0U);
    EXPECT_EQ(queues.take_at_home(at(0)), &threads[0]);
}

TEST_F(injector_test, a_worker_takes_not_all_of_many_at_once) {
    std::vector<ready_fiber> many(200);
    for (ready_fiber& f : many) at(0).injected.push(f);
    runnable_list some = injector::take_more(at(0));
    std::size_t count = 0;
    while (runnable* const r = some.pop_front()) EXPECT_EQ(r, &many[count++]);
    EXPECT_EQ(count, 32U);
    EXPECT_EQ(at(0).injected.size_hint(), 168U);
}

TEST_F(injector_test, a_worker_without_a_stack_takes_what_has_one) {
    queues.push_placed(threads[0], 0);
    queues.push_placed(fibers[0], 0);
    queues.push_placed(threads[1], 0);
    queues.push_placed(fibers[1], 0);
    EXPECT_TRUE(queues.has_started());
    EXPECT_EQ(queues.take_started(at(0)), &fibers[0]);
    EXPECT_EQ(queues.take_started(at(0)), &fibers[1]);
    EXPECT_EQ(queues.take_started(at(0)), nullptr);
    EXPECT_FALSE(queues.has_started());
    EXPECT_EQ(queues.take_at_home(at(0)), &threads[0]);
    EXPECT_EQ(queues.take_at_home(at(0)), &threads[1]);
}

TEST_F(injector_test, a_worker_without_a_stack_takes_from_other_shepherds_too) {
    queues.push_injected(threads[0]); // shepherd 0
    queues.push_injected(fibers[0]);  // shepherd 1
    EXPECT_EQ(queues.take_started(at(2)), &fibers[0]);
    queues.push_placed(fibers[1], 1);
    EXPECT_EQ(queues.take_started(at(2)), nullptr);
    at(1).active.store(0);
    EXPECT_EQ(queues.take_started(at(2)), &fibers[1]);
}

TEST_F(injector_test, counts_how_far_spawners_are_ahead) {
    queues.push_placed(threads[0], 1);
    queues.push_placed(threads[1], 1);
    queues.push_injected(threads[2]);
    queues.push_unstarted(threads[3]);
    EXPECT_TRUE(queues.is_far_behind(1, 1));
    EXPECT_FALSE(queues.is_far_behind(1, 2));
    EXPECT_FALSE(queues.is_far_behind(0, 0));
    EXPECT_TRUE(queues.is_far_behind(-1, 1));
    EXPECT_FALSE(queues.is_far_behind(-1, 2));
    EXPECT_EQ(queues.count_queued(), 3U);
    EXPECT_EQ(queues.count_unstarted(), 1U);
}

TEST_F(injector_test, drops_what_joiners_have_claimed) {
    queues.push_placed(threads[0], 0);
    queues.push_placed(fibers[0], 0);
    queues.push_unstarted(threads[1]);
    queues.push_unstarted(threads[2]);
    threads[0].claimed.store(true);
    threads[2].claimed.store(true);
    EXPECT_EQ(queues.drop_claimed(at(0)), 2U);
    EXPECT_EQ(threads[0].references.load(), 1);
    EXPECT_EQ(threads[1].references.load(), 2);
    EXPECT_EQ(threads[2].references.load(), 1);
    EXPECT_EQ(queues.take_at_home(at(0)), &fibers[0]);
    EXPECT_EQ(queues.take_at_home(at(0)), &threads[1]);
    EXPECT_EQ(queues.take_at_home(at(0)), nullptr);
}

TEST_F(injector_test, clearing_drops_the_references_of_the_queues) {
    queues.push_placed(threads[0], 2);
    queues.push_injected(threads[1]);
    queues.push_unstarted(threads[2]);
    queues.clear();
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(threads[k].references.load(), 1);
    EXPECT_EQ(queues.count_queued() + queues.count_unstarted(), 0U);
}

TEST_F(injector_test, each_thread_is_taken_once) {
    constexpr std::size_t k_each = 500;
    std::vector<ready_fiber> many(2 * k_each);
    std::atomic<std::size_t> taken{0};
    auto const push = [&](std::size_t first) {
        for (std::size_t k = first; k < first + k_each; k += 2) {
            queues.push_injected(many[k]);
            queues.push_placed(many[k + 1], 1);
        }
    };
    auto const take = [&] {
        while (taken.load() < many.size()) {
            runnable* r = queues.take_at_home(at(1));
            if (r == nullptr) r = injector::take_from(at(0));
            if (r == nullptr) r = queues.take_started(at(2));
            if (r != nullptr) taken.fetch_add(1);
        }
    };
    std::vector<std::thread> os_threads;
    os_threads.emplace_back(push, 0);
    os_threads.emplace_back(push, k_each);
    os_threads.emplace_back(take);
    os_threads.emplace_back(take);
    for (std::thread& t : os_threads) t.join();
    EXPECT_EQ(taken.load(), many.size());
    EXPECT_EQ(queues.count_queued(), 0U);
    EXPECT_FALSE(queues.has_started());
}

} // namespace
