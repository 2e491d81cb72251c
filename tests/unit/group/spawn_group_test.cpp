// SPDX-License-Identifier: Apache-2.0
//
// Each policy with each of the three models of Wheeler, Murphy and Thain (2008), with memory for
// few threads; then what each one promises.
#include "runtime_fixture.hpp"
#include "uneven_tree.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tulle.h>

namespace {

using namespace tulle;

// Spawns, and where the policy refuses, does the work itself: what a program does that has chosen
// it.
template <class F> void spawn_or_run(spawn_group& g, F f) {
    try {
        g.spawn(f);
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code().value(), EAGAIN);
        f();
    }
}

struct setup {
    int workers;
    when_full policy;
    std::size_t most;
    bool few_stacks;
};
std::string name_of(::testing::TestParamInfo<setup> const& info) {
    constexpr std::array k_names{"inline", "create", "record", "block"};
    setup const& s = info.param;
    return std::string(k_names[static_cast<std::size_t>(s.policy)]) + "_workers" +
           std::to_string(s.workers) + "_most" + std::to_string(s.most) +
           (s.few_stacks ? "_fewstacks" : "");
}
std::vector<setup> all_setups() {
    std::vector<setup> all;
    for (auto const policy :
         {when_full::run_inline, when_full::create, when_full::record, when_full::block})
        for (int const workers : {1, 2, 4})
            for (std::size_t const most : {1U, 3U, 8U})
                for (bool const few : {false, true}) all.push_back({workers, policy, most, few});
    return all;
}

class spawn_group_models : public ::testing::TestWithParam<setup> {
protected:
    void SetUp() override {
        if (GetParam().few_stacks) set_option("max_stacks", std::to_string(k_stacks()));
        initialize({.workers = GetParam().workers});
    }
    void TearDown() override {
        if (GetParam().few_stacks) {
            EXPECT_LE(sched::scheduler::instance().stacks().stats().high_water, k_stacks());
        }
        finalize();
        set_option("max_stacks", "auto");
    }
    // Memory for N threads: what the workers keep, and one stack for each of the group.
    static std::size_t k_stacks() {
        return 3 * static_cast<std::size_t>(GetParam().workers) + GetParam().most;
    }
};
INSTANTIATE_TEST_SUITE_P(policies, spawn_group_models, ::testing::ValuesIn(all_setups()), name_of);

// Depth and breadth unknown; every node waits for its children while it holds its place in the one
// group of all.
long count_in_group(spawn_group& g, std::uint64_t node, int depth) {
    unsigned const children = children_of(node, depth);
    std::array<long, 4> parts{};
    tulle::signal ended(children);
    for (unsigned k = 0; k < children; ++k)
        spawn_or_run(g, [&, k] {
            parts[k] = count_in_group(g, next_of(node, k), depth + 1);
            ended.notify();
        });
    ended.wait();
    return std::accumulate(parts.begin(), parts.end(), 1L);
}

TEST_P(spawn_group_models, recursive_tree_of_unknown_depth) {
    std::uint64_t const root = test_seed();
    spawn_group g(GetParam().most, GetParam().policy);
    EXPECT_EQ(count_in_group(g, root, 0), count_serially(root, 0));
    g.join();
}

TEST_P(spawn_group_models, recursive_tree_that_starts_in_the_group) {
    std::uint64_t const root = test_seed();
    spawn_group g(GetParam().most, GetParam().policy);
    long nodes = 0;
    g.spawn([&] { nodes = count_in_group(g, root, 0); });
    g.join();
    EXPECT_EQ(nodes, count_serially(root, 0));
}

TEST_P(spawn_group_models, equal_distribution) {
    constexpr long k_items = 10000;
    int const parts = GetParam().workers;
    std::vector<long> sums(static_cast<std::size_t>(parts));
    spawn_group g(GetParam().most, GetParam().policy);
    for (int p = 0; p < parts; ++p)
        spawn_or_run(g, [&sums, p, parts] {
            for (long i = k_items * p / parts; i < k_items * (p + 1) / parts; ++i)
                sums[static_cast<std::size_t>(p)] += i;
        });
    g.join();
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0L), k_items * (k_items - 1) / 2);
}

TEST_P(spawn_group_models, lagging_loop) {
    constexpr std::size_t k_chunks = 1000;
    std::vector<long> sums(k_chunks);
    std::vector<one_shot> done(k_chunks);
    spawn_group g(GetParam().most, GetParam().policy);
    for (std::size_t k = 0; k < k_chunks; ++k)
        spawn_or_run(g, [&, k] {
            if (k != 0) done[k - 1].wait();
            sums[k] = (k == 0 ? 0 : sums[k - 1]) + static_cast<long>(k);
            done[k].fire();
        });
    g.join();
    EXPECT_EQ(sums.back(), static_cast<long>(k_chunks * (k_chunks - 1) / 2));
}

// --- what each policy promises -------------------------------------------------------------------

class spawn_group_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, spawn_group_test, ::testing::Values(1, 2, 4));

// Counts how many threads run at a time.
struct census {
    std::atomic<int> now{0}, most{0}, all{0};
    void operator()() {
        int const here = now.fetch_add(1) + 1;
        int seen = most.load();
        while (seen < here && !most.compare_exchange_weak(seen, here)) {}
        for (int k = 0; k < 3; ++k) this_thread::yield();
        now.fetch_sub(1);
        all.fetch_add(1);
    }
};

TEST_P(spawn_group_test, no_more_threads_than_places) {
    for (auto const policy : {when_full::record, when_full::block}) {
        census c;
        spawn_group g(3, policy);
        for (int k = 0; k < 500; ++k) {
            g.spawn([&c] { c(); });
            EXPECT_LE(g.size(), 3U);
        }
        g.join();
        EXPECT_EQ(c.all.load(), 500);
        EXPECT_LE(c.most.load(), 3);
        EXPECT_EQ(g.size(), 0U);
    }
}

TEST_P(spawn_group_test, inline_runs_in_the_spawner_when_full) {
    latch open(1);
    spawn_group g(2);
    thread_id const self = this_thread::get_id();
    for (int k = 0; k < 2; ++k) g.spawn([&open] { open.wait(); });
    thread_id ran_in = 0;
    g.spawn([&ran_in] { ran_in = this_thread::get_id(); });
    EXPECT_EQ(ran_in, self);
    open.count_down();
    g.join();
}

TEST_P(spawn_group_test, create_fails_when_full_and_works_again_later) {
    latch open(1);
    spawn_group g(2, when_full::create);
    std::atomic<int> ran{0};
    for (int k = 0; k < 2; ++k) g.spawn([&] { open.wait(), ran.fetch_add(1); });
    try {
        g.spawn([] {});
        ADD_FAILURE() << "the group is full";
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), std::error_code(EAGAIN, std::generic_category()));
    }
    open.count_down();
    g.join();
    g.spawn([&] { ran.fetch_add(1); });
    g.join();
    EXPECT_EQ(ran.load(), 3);
}

TEST_P(spawn_group_test, record_does_not_make_the_spawner_wait) {
    latch open(1);
    spawn_group g(1, when_full::record);
    std::vector<int> order;
    g.spawn([&] { open.wait(), order.push_back(0); });
    // One place: one at a time.
    for (int k = 1; k < 100; ++k) g.spawn([&order, k] { order.push_back(k); });
    open.count_down();
    g.join();
    std::vector<int> wanted(100);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(order, wanted);
}

TEST_P(spawn_group_test, record_of_a_thread_in_the_group_runs_in_it) {
    spawn_group g(1, when_full::record);
    thread_id outer = 0, inner = 0;
    g.spawn([&] {
        outer = this_thread::get_id();
        g.spawn([&] { inner = this_thread::get_id(); });
        EXPECT_NE(inner, 0U);
    });
    g.join();
    EXPECT_EQ(inner, outer);
}

TEST_P(spawn_group_test, block_waits_for_a_place) {
    latch open(1);
    std::atomic<bool> spawned{false};
    spawn_group g(1, when_full::block);
    g.spawn([&open] { open.wait(); });
    auto spawner = spawn([&] {
        g.spawn([] {});
        spawned.store(true);
    });
    EXPECT_FALSE(spawner.join_for(std::chrono::milliseconds(5)));
    EXPECT_FALSE(spawned.load());
    open.count_down();
    spawner.join();
    g.join();
}

// The thread that blocks holds the only place.
TEST_P(spawn_group_test, block_of_a_thread_in_the_group_lends_its_place) {
    spawn_group g(1, when_full::block);
    thread_id outer = 0, inner = 0;
    g.spawn([&] {
        outer = this_thread::get_id();
        g.spawn([&] { inner = this_thread::get_id(); });
        EXPECT_NE(inner, 0U) << "it goes on when there is a place again";
    });
    g.join();
    EXPECT_NE(inner, outer);
}

TEST_P(spawn_group_test, exception_arrives_at_the_join_whoever_ran_it) {
    for (std::size_t const most : {1U, 100U}) {
        spawn_group g(most);
        for (int k = 0; k < 10; ++k) g.spawn([] { throw std::runtime_error("one of ten"); });
        EXPECT_THROW(g.join(), std::runtime_error);
        EXPECT_NO_THROW(g.join());
    }
}

TEST_P(spawn_group_test, callables_are_moved_and_large_ones_fit) {
    std::array<char, 500> large{};
    large.back() = 7;
    std::atomic<int> sum{0};
    for (auto const policy : {when_full::run_inline, when_full::record}) {
        spawn_group g(1, policy);
        g.spawn(
            [large, &sum, own = std::make_unique<int>(5)] { sum.fetch_add(large.back() + *own); });
        g.spawn(
            [large, &sum, own = std::make_unique<int>(6)] { sum.fetch_add(large.back() + *own); });
        g.join();
    }
    EXPECT_EQ(sum.load(), 2 * (7 + 5 + 7 + 6));
}

TEST_P(spawn_group_test, group_is_joined_by_its_destructor) {
    std::atomic<int> ran{0};
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        spawn_group g(2, policy);
        for (int k = 0; k < 50; ++k) g.spawn([&ran] { ran.fetch_add(1); });
    }
    EXPECT_EQ(ran.load(), 150);
}

TEST_P(spawn_group_test, foreign_threads_spawn_into_one_group) {
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        std::atomic<int> ran{0};
        spawn_group g(2, policy);
        std::array<std::thread, 3> spawners;
        latch ended(3); // main may be the only worker
        for (auto& s : spawners)
            s = std::thread([&] {
                for (int k = 0; k < 100; ++k) g.spawn([&ran] { ran.fetch_add(1); });
                ended.count_down();
            });
        ended.wait();
        for (auto& s : spawners) s.join();
        g.join();
        EXPECT_EQ(ran.load(), 300);
    }
}

// Whether the child runs on its spawner's stack or not.
TEST_P(spawn_group_test, a_spawner_that_has_lent_its_place_goes_on_with_one) {
    spawn_group g(2, when_full::block);
    latch other(1), child(1);
    std::atomic<bool> went_on{false};
    g.spawn([&other] { other.wait(); });
    g.spawn([&] {
        g.spawn([&child] { child.wait(); });
        went_on.store(true);
    });
    this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_FALSE(went_on.load());
    EXPECT_EQ(g.size(), 2U);
    other.count_down();
    child.count_down();
    g.join();
    EXPECT_TRUE(went_on.load());
}

TEST_P(spawn_group_test, try_spawn_neither_waits_nor_runs_anything) {
    for (auto const policy :
         {when_full::run_inline, when_full::create, when_full::record, when_full::block}) {
        spawn_group g(1, policy);
        latch open(1);
        auto kept = std::make_unique<int>(4);
        int sum = 0;
        EXPECT_TRUE(g.try_spawn([&open] { open.wait(); }));
        auto taker = [&sum, own = std::move(kept)] { sum += *own; };
        EXPECT_FALSE(g.try_spawn(std::move(taker)));
        EXPECT_FALSE(g.try_spawn_for(std::chrono::microseconds(300), std::move(taker)));
        EXPECT_FALSE(g.try_spawn_until(
            std::chrono::steady_clock::now() + std::chrono::microseconds(300), std::move(taker)));
        open.count_down();
        EXPECT_TRUE(g.try_spawn_for(std::chrono::hours(1), std::move(taker)));
        g.join();
        EXPECT_EQ(sum, 4);
        EXPECT_TRUE(g.try_spawn([] {}));
    }
}

TEST_P(spawn_group_test, results_fill_their_words) {
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        spawn_group g(3, policy);
        std::array<std::uint64_t, 100> squares{};
        for (std::size_t k = 0; k < squares.size(); ++k)
            g.spawn_into(squares[k], [k] { return k * k; });
        for (std::size_t k = 0; k < squares.size(); ++k) EXPECT_EQ(feb::read_ff(squares[k]), k * k);
        float third = 0;
        EXPECT_TRUE(g.try_spawn_into_for(std::chrono::hours(1), third, [] { return 0.5F; }));
        EXPECT_EQ(feb::read_ff(third), 0.5F);
        g.spawn_into(third, [] { return throw std::runtime_error("no result"), 1.0F; });
        EXPECT_EQ(feb::read_ff(third), 0.5F);
        EXPECT_THROW(g.join(), std::runtime_error);
    }
}

TEST_P(spawn_group_test, a_result_that_is_refused_leaves_its_word_alone) {
    spawn_group g(1, when_full::create);
    latch open(1);
    std::uint64_t word = 7;
    g.spawn([&open] { open.wait(); });
    EXPECT_THROW(g.spawn_into(word, [] { return 1U; }), std::system_error);
    EXPECT_FALSE(g.try_spawn_into(word, [] { return 1U; }));
    EXPECT_TRUE(feb::is_full(word));
    EXPECT_EQ(word, 7U);
    open.count_down();
    g.join();
}

// --- limits for each shepherd --------------------------------------------------------------------

struct limits {
    int workers;
    char const* shepherds;
    std::size_t most;
};

std::string name_of_limits(::testing::TestParamInfo<limits> const& info) {
    limits const& l = info.param;
    return "workers" + std::to_string(l.workers) + "_shepherds" + l.shepherds + "_most" +
           std::to_string(l.most);
}

class per_shepherd_test : public ::testing::TestWithParam<limits> {
protected:
    void SetUp() override {
        set_option("shepherds", GetParam().shepherds);
        initialize({.workers = GetParam().workers});
    }
    void TearDown() override {
        finalize();
        set_option("shepherds", "auto");
    }
};
INSTANTIATE_TEST_SUITE_P(limits, per_shepherd_test,
                         ::testing::Values(limits{1, "1", 1}, limits{2, "2", 1}, limits{2, "2", 3},
                                           limits{3, "2", 2}, limits{4, "4", 2}),
                         &name_of_limits);

// How many threads of a group are between begin and end, on each shepherd; those that wait in a
// spawn do not count.
struct shepherd_census {
    std::array<std::atomic<int>, 4> now{}, most{};

    void enter(std::size_t s) {
        int const here = now[s].fetch_add(1) + 1;
        int seen = most[s].load();
        while (seen < here && !most[s].compare_exchange_weak(seen, here)) {}
    }
    void leave(std::size_t s) { now[s].fetch_sub(1); }
};

// A random tree, whose threads join their children by full/empty words, and spawn at random places.
// Children of one shepherd run there.
struct random_tree {
    spawn_group& group;
    shepherd_census& census;

    std::uint64_t grow(std::uint64_t node, int depth) {
        auto const here = static_cast<std::size_t>(this_thread::shepherd_index());
        census.enter(here);
        unsigned const children = children_of(node, depth);
        std::array<std::uint64_t, 4> parts{};
        for (unsigned k = 0; k < children; ++k) {
            std::uint64_t const child = next_of(node, k);
            int const where =
                child % 3 == 0 ? -1
                               : static_cast<int>(child % static_cast<unsigned>(shepherd_count()));
            census.leave(here); // it may have to lend its place
            group.spawn_into_at(where, parts[k],
                                [this, child, depth] { return grow(child, depth + 1); });
            census.enter(here);
        }
        if (node % 5 == 0) this_thread::yield();
        std::uint64_t nodes = 1;
        for (unsigned k = 0; k < children; ++k) nodes += feb::read_ff(parts[k]);
        census.leave(here);
        return nodes;
    }
};

TEST_P(per_shepherd_test, the_limit_is_never_exceeded_and_nothing_deadlocks) {
    std::uint64_t const seed = test_seed();
    for (unsigned round = 0; round < 4; ++round) {
        std::uint64_t const root = next_of(seed, round);
        shepherd_census census;
        spawn_group g(per_shepherd{GetParam().most}, when_full::block);
        random_tree tree{g, census};
        std::uint64_t nodes = 0;
        g.spawn_into(nodes, [&] { return tree.grow(root, 0); });
        EXPECT_EQ(feb::read_ff(nodes), static_cast<std::uint64_t>(count_serially(root, 0)));
        g.join();
        for (auto const& most : census.most)
            EXPECT_LE(most.load(), static_cast<int>(GetParam().most));
    }
}

TEST_P(per_shepherd_test, threads_from_outside_wait_for_a_place_of_any_shepherd) {
    shepherd_census census;
    for (auto const policy : {when_full::record, when_full::block}) {
        spawn_group g(per_shepherd{GetParam().most}, policy);
        for (int k = 0; k < 300; ++k)
            g.spawn([&census] {
                auto const here = static_cast<std::size_t>(this_thread::shepherd_index());
                census.enter(here);
                this_thread::yield();
                census.leave(here);
            });
        EXPECT_LE(g.size(), GetParam().most * static_cast<std::size_t>(shepherd_count()));
        g.join();
    }
    for (auto const& most : census.most) EXPECT_LE(most.load(), static_cast<int>(GetParam().most));
}

TEST_P(per_shepherd_test, threads_run_where_they_are_sent) {
    for (auto const policy : {when_full::record, when_full::block}) {
        spawn_group g(per_shepherd{GetParam().most}, policy);
        std::atomic<int> elsewhere{0};
        for (int k = 0; k < 200; ++k) {
            int const where = k % shepherd_count();
            g.spawn_at(where, [&elsewhere, where] {
                elsewhere += this_thread::shepherd_index() != where;
            });
        }
        g.join();
        EXPECT_EQ(elsewhere.load(), 0);
    }
}

TEST_P(per_shepherd_test, a_full_shepherd_does_not_keep_others_from_their_places) {
    spawn_group g(per_shepherd{GetParam().most}, when_full::block);
    latch open(1);
    for (std::size_t k = 0; k < GetParam().most; ++k) g.spawn_at(0, [&open] { open.wait(); });
    EXPECT_FALSE(g.try_spawn_at(0, [] {}));
    EXPECT_FALSE(g.try_spawn_at_for(0, std::chrono::microseconds(200), [] {}));
    if (shepherd_count() > 1) {
        std::atomic<int> ran{0};
        for (int k = 0; k < 20; ++k) g.spawn([&ran] { ++ran; });
        EXPECT_TRUE(g.try_spawn_at_for(1, std::chrono::hours(1), [&ran] { ++ran; }));
        while (ran.load() < 21) this_thread::yield();
    }
    open.count_down();
    g.join();
}

TEST_P(per_shepherd_test, errors) {
    EXPECT_THROW(spawn_group(per_shepherd{0}), std::invalid_argument);
    spawn_group g(per_shepherd{1});
    EXPECT_THROW(g.spawn_at(shepherd_count(), [] {}), std::system_error);
    EXPECT_THROW(g.spawn_at(-2, [] {}), std::system_error);
    std::uint64_t word = 3;
    EXPECT_THROW(g.spawn_into_at(100, word, [] { return 1U; }), std::system_error);
    EXPECT_TRUE(feb::is_full(word));
}

TEST(spawn_group_errors, a_group_with_limits_for_each_shepherd_belongs_to_one_number_of_shepherds) {
    set_option("shepherds", "2");
    initialize({.workers = 2});
    {
        spawn_group g(per_shepherd{1});
        finalize();
        set_option("shepherds", "1");
        initialize({.workers = 1});
        EXPECT_THROW(g.spawn([] {}), std::system_error);
    }
    finalize();
    set_option("shepherds", "auto");
}

TEST(spawn_group_errors, group_for_no_thread_is_refused) {
    EXPECT_THROW(spawn_group(0), std::invalid_argument);
}

TEST(spawn_group_record, is_no_larger_than_promised) {
    EXPECT_LE(sizeof(sched::thread_record), 104U);
}

TEST(spawn_group_c, errors_are_negative_errno) {
    tulle_group* g = nullptr;
    EXPECT_EQ(tulle_group_create(nullptr, 1, TULLE_CREATE), -EINVAL);
    EXPECT_EQ(tulle_group_create(&g, 0, TULLE_CREATE), -EINVAL);
    EXPECT_EQ(tulle_group_create(&g, 1, 4), -EINVAL);
    EXPECT_EQ(tulle_group_spawn(
                  nullptr, [](void*) {}, nullptr),
              -EINVAL);
    EXPECT_EQ(tulle_group_join(nullptr), -EINVAL);
    EXPECT_EQ(tulle_group_destroy(nullptr), -EINVAL);
    EXPECT_EQ(tulle_group_size(nullptr), 0U);
    ASSERT_EQ(tulle_group_create(&g, 1, TULLE_CREATE), 0);
    EXPECT_EQ(tulle_group_spawn(g, nullptr, nullptr), -EINVAL);
    latch open(1);
    EXPECT_EQ(tulle_group_spawn(
                  g, [](void* l) { static_cast<latch*>(l)->wait(); }, &open),
              0);
    EXPECT_EQ(tulle_group_spawn(
                  g, [](void*) {}, nullptr),
              -EAGAIN);
    EXPECT_EQ(tulle_group_size(g), 1U);
    open.count_down();
    EXPECT_EQ(tulle_group_join(g), 0);
    EXPECT_EQ(tulle_group_destroy(g), 0);
    finalize();
}

} // namespace
