// SPDX-License-Identifier: Apache-2.0
//
// With the fewest stacks that an option allows, whatever a serial run could do comes to its end:
// the three models of Wheeler, Murphy and Thain (2008), by fork, by scope and by spawn.
#include "emulated.hpp"
#include "os/memory.hpp"
#include "runtime_fixture.hpp"
#include "uneven_tree.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace tulle;

// {workers, stacks}; fewer than three for each worker are made three.
class shortage_test : public ::testing::TestWithParam<std::tuple<int, int>> {
protected:
    void SetUp() override {
        set_option("max_stacks", std::to_string(std::get<1>(GetParam())));
        initialize({.workers = std::get<0>(GetParam())});
    }
    void TearDown() override {
        finalize();
        set_option("max_stacks", "auto");
    }
    static std::size_t stacks_in_use() {
        return sched::scheduler::instance().stacks().stats().high_water;
    }
    static std::size_t limit() {
        auto const workers = static_cast<std::size_t>(std::get<0>(GetParam()));
        return std::max(3 * workers, static_cast<std::size_t>(std::get<1>(GetParam())));
    }
};
INSTANTIATE_TEST_SUITE_P(workers_stacks, shortage_test,
                         ::testing::Combine(::testing::Values(1, 2, 4), ::testing::Values(1, 16)));

long count_by_scope(std::uint64_t node, int depth) {
    std::array<long, 4> parts{};
    scope s;
    for (unsigned k = 0; k < children_of(node, depth); ++k)
        s.spawn([&parts, node, depth, k] {
            if (depth % 2 == 0) this_thread::yield(); // gives others a chance to take what is older
            parts[k] = count_by_scope(next_of(node, k), depth + 1);
        });
    s.join();
    return std::accumulate(parts.begin(), parts.end(), 1L);
}
long count_by_spawn(std::uint64_t node, int depth) {
    std::vector<thread<long>> threads;
    for (unsigned k = 0; k < children_of(node, depth); ++k)
        threads.push_back(spawn([node, depth, k] {
            if (depth % 2 == 0) this_thread::yield();
            return count_by_spawn(next_of(node, k), depth + 1);
        }));
    long nodes = 1;
    for (auto& t : threads) nodes += t.join();
    return nodes;
}

TEST_P(shortage_test, recursive_tree_of_unknown_depth) {
    std::uint64_t const first = test_seed();
    for (std::uint64_t root = first; root < first + 8; ++root) {
        long const nodes = count_serially(root, 0);
        EXPECT_EQ(count_by_scope(root, 0), nodes) << root;
        EXPECT_EQ(count_by_spawn(root, 0), nodes) << root;
    }
    EXPECT_LE(stacks_in_use(), limit());
}

// Each wait of a thread is one of its own, also where its children lie where others have lain.
void wait_for_children_in_turn(int depth) {
    for (int turn = 0; turn < 3; ++turn) {
        latch done(1);
        auto one = fork([&done, depth] {
            if (depth != 0) wait_for_children_in_turn(depth - 1);
            done.count_down();
        });
        done.wait();
        one.join();
    }
}
TEST_P(shortage_test, children_that_are_waited_for_before_they_are_joined) {
    wait_for_children_in_turn(6);
    spawn([] { wait_for_children_in_turn(6); }).join();
    EXPECT_LE(stacks_in_use(), limit());
}

// Started from a thread: it waits for its children on a stack of the pool.
TEST_P(shortage_test, recursive_tree_of_a_thread) {
    std::uint64_t const root = test_seed();
    auto t = spawn([root] { return count_by_scope(root, 0) + count_by_spawn(root, 0); });
    EXPECT_EQ(t.join(), 2 * count_serially(root, 0));
}

TEST_P(shortage_test, equal_distribution) {
    constexpr long k_items = 100000;
    int const parts = 2 * std::get<0>(GetParam());
    std::vector<thread<long>> threads;
    for (int p = 0; p < parts; ++p)
        threads.push_back(spawn([p, parts] {
            long sum = 0;
            for (long i = k_items * p / parts; i < k_items * (p + 1) / parts; ++i) sum += i;
            return sum;
        }));
    long sum = 0;
    for (auto& t : threads) sum += t.join();
    EXPECT_EQ(sum, k_items * (k_items - 1) / 2);
}

// Each thread adds its own part to what the one before it has left.
struct lagging_loop {
    explicit lagging_loop(std::size_t n) : sums(n), done(n) {}
    void step(std::size_t k) {
        if (k != 0) done[k - 1].wait();
        sums[k] = (k == 0 ? 0 : sums[k - 1]) + static_cast<long>(k);
        done[k].fire();
    }
    [[nodiscard]] bool is_right() const {
        auto const n = static_cast<long>(sums.size());
        return sums.back() == n * (n - 1) / 2;
    }
    std::vector<long> sums;
    std::vector<one_shot> done;
};
constexpr std::size_t k_chunks = 2000;

TEST_P(shortage_test, lagging_loop_by_scope) {
    lagging_loop loop(k_chunks);
    scope s;
    for (std::size_t k = 0; k < k_chunks; ++k) s.spawn([&loop, k] { loop.step(k); });
    s.join();
    EXPECT_TRUE(loop.is_right());
    EXPECT_LE(stacks_in_use(), limit());
}

TEST_P(shortage_test, lagging_loop_by_scope_of_a_thread) {
    lagging_loop loop(k_chunks);
    spawn([&loop] {
        scope s;
        for (std::size_t k = 0; k < k_chunks; ++k) s.spawn([&loop, k] { loop.step(k); });
    }).join();
    EXPECT_TRUE(loop.is_right());
}

TEST_P(shortage_test, lagging_loop_by_spawn) {
    lagging_loop loop(k_chunks);
    std::vector<thread<void>> threads;
    for (std::size_t k = 0; k < k_chunks; ++k)
        threads.push_back(spawn([&loop, k] { loop.step(k); }));
    for (auto& t : threads) t.join();
    EXPECT_TRUE(loop.is_right());
    EXPECT_LE(stacks_in_use(), limit());
}

// Joined last first: the joiner runs the youngest, which waits for all others.
TEST_P(shortage_test, lagging_loop_joined_backwards) {
    lagging_loop loop(k_chunks);
    std::vector<thread<void>> threads;
    for (std::size_t k = 0; k < k_chunks; ++k)
        threads.push_back(spawn([&loop, k] { loop.step(k); }));
    for (; !threads.empty(); threads.pop_back()) threads.back().join();
    EXPECT_TRUE(loop.is_right());
}

// Each of some scopes runs a lagging loop, and waits for the scope before it.
TEST_P(shortage_test, lagging_loop_of_lagging_loops) {
    constexpr std::size_t k_outer = 20, k_inner = 50;
    lagging_loop outer(k_outer);
    std::atomic<int> wrong{0};
    scope s;
    for (std::size_t k = 0; k < k_outer; ++k)
        s.spawn([&outer, &wrong, k] {
            lagging_loop inner(k_inner);
            scope of_inner;
            for (std::size_t i = 0; i < k_inner; ++i)
                of_inner.spawn([&inner, &outer, i, k] {
                    if (i == k_inner / 2) outer.step(k);
                    inner.step(i);
                });
            of_inner.join();
            if (!inner.is_right()) wrong.fetch_add(1);
        });
    s.join();
    EXPECT_TRUE(outer.is_right());
    EXPECT_EQ(wrong.load(), 0);
}

// More threads than stacks wait for main: those that have none start when the others have ended.
TEST_P(shortage_test, threads_that_find_no_stack_start_later) {
    constexpr int k_threads = 200;
    latch open(1);
    std::atomic<int> started{0}, ended{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < k_threads; ++k)
        threads.push_back(spawn([&] {
            started.fetch_add(1);
            open.wait();
            ended.fetch_add(1);
        }));
    while (started.load() == 0) this_thread::yield();
    this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_LT(started.load(), k_threads);
    open.count_down();
    for (auto& t : threads) t.join();
    EXPECT_EQ(ended.load(), k_threads);
    EXPECT_LE(stacks_in_use(), limit());
}

// The joined threads want stacks of their own, and there is none.
// The one that yields is all that its worker can go on with, as the others have no stack.
TEST_P(shortage_test, thread_that_has_been_woken_goes_on_beside_one_that_yields) {
    one_shot event;
    std::atomic<bool> waits{false}, has_gone_on{false};
    latch done(1);
    auto woken = spawn([&] {
        waits.store(true);
        event.wait();
        has_gone_on.store(true);
    });
    while (!waits.load()) this_thread::yield();
    std::vector<thread<void>> blocked;
    for (std::size_t k = 0; k < limit() + 2; ++k) {
        blocked.push_back(spawn([&done] { done.wait(); }));
        this_thread::yield();
    }
    std::thread waker([&event] { event.fire(); });
    while (!has_gone_on.load()) this_thread::yield();
    waker.join();
    done.count_down();
    woken.join();
    for (auto& t : blocked) t.join();
}

TEST_P(shortage_test, thread_with_a_stack_of_its_own_runs_on_its_joiner) {
    struct chain {
        static int run(int depth) {
            if (depth == 0) return 0;
            return 1 + spawn({.stack_size = 16384}, [depth] { return run(depth - 1); }).join();
        }
    };
    EXPECT_EQ(spawn([] { return chain::run(60); }).join(), 60);
}

// Its joiner is main, whose frame may go on at another shepherd; so it starts when others have
// ended.
TEST_P(shortage_test, placed_thread_with_a_stack_of_its_own_does_not_run_on_main) {
    sched::worker& w = *sched::this_worker();
    sched::fiber const& main = *w.current;
    latch open(1);
    std::atomic<int> started{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 200; ++k)
        threads.push_back(spawn([&] {
            started.fetch_add(1);
            open.wait();
        }));
    while (started.load() == 0 || w.owner->shortage().can_go_on_without(w)) this_thread::yield();
    std::atomic<bool> has_begun{false};
    auto placed = spawn({.stack_size = 16384, .shepherd = 0}, [&] {
        has_begun = true;
        return sched::this_worker()->current == &main;
    });
    std::thread opener([&] {
        while (!has_begun && main.waits_for.load() != wait::wait_kind::spawned_thread)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        open.count_down();
    });
    EXPECT_FALSE(placed.join());
    opener.join();
    for (auto& t : threads) t.join();
}

TEST_P(shortage_test, stacks_in_reserve_are_whole_again_afterwards) {
    for (int round = 0; round < 20; ++round) {
        lagging_loop loop(64);
        scope s;
        for (std::size_t k = 0; k < 64; ++k) s.spawn([&loop, k] { loop.step(k); });
        s.join();
        EXPECT_TRUE(loop.is_right());
    }
    EXPECT_LE(stacks_in_use(), limit());
}

// A foreign thread's records are run by the workers, or by itself.
TEST_P(shortage_test, lagging_loop_of_a_foreign_thread) {
    lagging_loop loop(k_chunks);
    std::thread([&loop] {
        scope s;
        for (std::size_t k = 0; k < k_chunks; ++k) s.spawn([&loop, k] { loop.step(k); });
    }).join();
    EXPECT_TRUE(loop.is_right());
}

#ifndef TULLE_ANNOTATE_ADDRESS // its shadow memory takes more than any limit
#ifndef TULLE_ANNOTATE_THREAD
// From now on the process gets so many bytes of address space more.
void limit_memory(std::size_t more) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlim_t const most = pages * os::page_size() + more;
    rlimit const tight{most, most};
    setrlimit(RLIMIT_AS, &tight);
}

// A larger array would take 64 MiB at once.
void fork_many_with_little_memory() {
    initialize({.workers = 1});
    scope s;
    s.spawn([] {});
    limit_memory(std::size_t{6} << 20U);
    long ran = 0;
    for (int k = 0; k < 60000; ++k) s.spawn([&ran] { ++ran; });
    s.join();
    std::_Exit(ran == 60000 ? 0 : 1);
}

TEST(shortage_exit_test, forks_take_what_memory_there_is) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fork_many_with_little_memory(), ::testing::ExitedWithCode(0), "");
}

// For the list of a scope, which would be the first to have no memory where the heap is just full.
void leave_room_in_heap() {
    constexpr std::size_t k_bytes = std::size_t{32} << 10U; // not so much that it is given back
    void* volatile const block = std::malloc(k_bytes);
    std::free(block);
}

void fork_many_without_memory() {
    initialize({.workers = 1});
    scope s;
    s.spawn([] {});
    leave_room_in_heap();
    limit_memory(0);
    for (;;) s.spawn([] {});
}

TEST(shortage_death_test, forks_without_any_memory_say_so) {
    TULLE_SKIP_IF_EMULATED("it takes no limit of address space");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        fork_many_without_memory(),
        "tulle: no memory for more than [0-9]+ forked threads that are not joined \\(.*\\); "
        "raise the limit of address space");
}

void fork_first_without_memory() {
    initialize({.workers = 1});
    limit_memory(0);
    auto child = fork([] {});
    child.join();
}

TEST(shortage_death_test, first_fork_without_memory_says_so) {
    TULLE_SKIP_IF_EMULATED("it takes no limit of address space");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(fork_first_without_memory(),
                 R"(tulle: no memory for the records of forked threads \(.*\); raise the limit)");
}

// The stacks that there are must do.
void block_many_with_little_memory() {
    initialize({.workers = 2});
    limit_memory(std::size_t{16} << 20U);
    lagging_loop loop(k_chunks);
    std::vector<thread<void>> threads;
    for (std::size_t k = 0; k < k_chunks; ++k)
        threads.push_back(
            spawn({.stack_size = std::size_t{8} << 20U}, [&loop, k] { loop.step(k); }));
    for (; !threads.empty(); threads.pop_back()) threads.back().join();
    std::_Exit(loop.is_right() ? 0 : 1);
}

TEST(shortage_exit_test, stacks_take_what_memory_there_is) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(block_many_with_little_memory(), ::testing::ExitedWithCode(0), "");
}
#endif
#endif

} // namespace
