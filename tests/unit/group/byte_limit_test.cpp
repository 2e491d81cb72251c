// SPDX-License-Identifier: Apache-2.0
//
// Groups that are limited by what their threads hold: never more bytes than allowed, and each
// depth-first walk goes on, with memory for few.
#include "runtime_fixture.hpp"
#include "uneven_tree.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tulle.h>

namespace {

using namespace tulle;

constexpr std::size_t k_node_bytes = 100;
constexpr std::size_t k_levels = 41; // of an uneven tree

struct most_of {
    std::atomic<std::size_t> now{0}, most{0};

    void add(std::size_t n) {
        std::size_t const here = now.fetch_add(n) + n;
        std::size_t seen = most.load();
        while (seen < here && !most.compare_exchange_weak(seen, here)) {}
    }
    void remove(std::size_t n) { now.fetch_sub(n); }
};

// A tree of which each node holds something until its children have ended.
struct walked_tree {
    spawn_group& group;
    most_of held, threads;

    explicit walked_tree(spawn_group& g) : group(g) {}
    long count(std::uint64_t node, int depth) {
        held.add(k_node_bytes);
        unsigned const children = children_of(node, depth);
        std::array<long, 4> parts{};
        tulle::signal ended(children);
        for (unsigned k = 0; k < children; ++k) {
            auto const walk = [this, &part = parts[k], &ended, child = next_of(node, k), depth] {
                part = count(child, depth + 1);
                ended.notify();
            };
            spawn_or_call(walk);
        }
        ended.wait();
        held.remove(k_node_bytes);
        return std::accumulate(parts.begin(), parts.end(), 1L);
    }
    template <class F> void spawn_or_call(F const& f) {
        try {
            group.spawn(f);
        } catch (std::system_error const& e) { // when_full::create
            EXPECT_EQ(e.code().value(), EAGAIN);
            f();
        }
    }
};

struct walks_setup {
    int workers;
    when_full policy;
    std::size_t walks;
    bool few_stacks;
};
std::string name_of_walks(::testing::TestParamInfo<walks_setup> const& info) {
    constexpr std::array k_names{"inline", "create", "record", "block"};
    walks_setup const& s = info.param;
    return std::string(k_names[static_cast<std::size_t>(s.policy)]) + "_workers" +
           std::to_string(s.workers) + "_walks" + std::to_string(s.walks) +
           (s.few_stacks ? "_fewstacks" : "");
}
std::vector<walks_setup> all_walks() {
    std::vector<walks_setup> all;
    for (auto const policy : {when_full::create, when_full::record, when_full::block})
        for (int const workers : {1, 3})
            for (std::size_t const walks : {1U, 3U})
                for (bool const few : {false, true}) all.push_back({workers, policy, walks, few});
    return all;
}

class depth_first_walks_test : public ::testing::TestWithParam<walks_setup> {
protected:
    void SetUp() override {
        if (GetParam().few_stacks) {
            std::size_t const stacks =
                3 * static_cast<std::size_t>(GetParam().workers) + GetParam().walks * k_levels;
            set_option("max_stacks", std::to_string(stacks));
        }
        initialize({.workers = GetParam().workers});
    }
    void TearDown() override {
        finalize();
        set_option("max_stacks", "auto");
    }
    static depth_first_walks reserved() { return {GetParam().walks, k_levels, k_node_bytes}; }
    static std::size_t limit() { return GetParam().walks * k_levels * k_node_bytes; }
};
INSTANTIATE_TEST_SUITE_P(policies, depth_first_walks_test, ::testing::ValuesIn(all_walks()),
                         name_of_walks);

TEST_P(depth_first_walks_test, trees_are_gone_through_with_what_is_reserved) {
    std::uint64_t const seed = test_seed();
    constexpr std::size_t k_roots = 4;
    std::array<long, k_roots> nodes{};
    spawn_group g(reserved(), GetParam().policy);
    walked_tree tree(g);
    for (unsigned r = 0; r < k_roots; ++r) {
        auto const walk = [&tree, &nodes, r, root = next_of(seed, r)] {
            nodes[r] = tree.count(root, 0);
        };
        while (true) {
            try {
                g.spawn(walk);
                break;
            } catch (std::system_error const& e) { // when_full::create; it must not hold more
                EXPECT_EQ(e.code().value(), EAGAIN);
                this_thread::yield();
            }
        }
        EXPECT_LE(g.held(), limit());
    }
    g.join();
    for (unsigned r = 0; r < k_roots; ++r) EXPECT_EQ(nodes[r], count_serially(next_of(seed, r), 0));
    EXPECT_LE(tree.held.most.load(), limit());
    EXPECT_EQ(g.held(), 0U);
    EXPECT_EQ(g.size(), 0U);
}

class byte_limit_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, byte_limit_test, ::testing::Values(1, 2));

TEST_P(byte_limit_test, a_walk_spreads_out_while_there_are_bytes_for_all_levels_below) {
    spawn_group g(depth_first_walks{2, 3, 10});
    thread_id root = 0, first = 0, second = 0, third = 0;
    latch open(1);
    g.spawn([&] { // holds 30 of 60
        root = this_thread::get_id();
        g.spawn([&] { // 20
            first = this_thread::get_id();
            open.wait();
        });
        EXPECT_EQ(g.held(), 50U);
        g.spawn([&] { // of the 30, as 10 are too few for two levels
            second = this_thread::get_id();
            EXPECT_EQ(g.held(), 50U);
            g.spawn([&] { third = this_thread::get_id(); }); // 10, the last level
            EXPECT_EQ(g.held(), 60U);
        });
        open.count_down();
    });
    g.join();
    EXPECT_NE(first, root);
    EXPECT_EQ(second, root);
    EXPECT_NE(third, root);
    EXPECT_NE(third, 0U);
}

TEST_P(byte_limit_test, a_spawn_below_the_last_level_is_an_error) {
    for (auto const policy : {when_full::run_inline, when_full::block}) {
        spawn_group g(depth_first_walks{1, 2, 10}, policy);
        bool is_refused = false, has_run = false;
        g.spawn([&] {
            g.spawn([&] {
                has_run = true;
                try {
                    g.spawn([] { ADD_FAILURE() << "the third level"; });
                } catch (std::length_error const& e) {
                    is_refused = std::string(e.what()).find("2 levels") != std::string::npos;
                }
            });
        });
        g.join();
        EXPECT_TRUE(has_run);
        EXPECT_TRUE(is_refused);
    }
}

// Other threads of the group would have taken the bytes that come free, one by one.
TEST_P(byte_limit_test, a_walk_from_outside_comes_before_threads_that_spread_out) {
    spawn_group g(depth_first_walks{2, 2, 10});
    latch first(1);
    std::atomic<bool> has_walked{false};
    g.spawn([&] {                            // 20 of 40
        g.spawn([&first] { first.wait(); }); // 10
        thread_id const self = this_thread::get_id();
        auto outside = tulle::spawn([&] {
            g.spawn([&has_walked] { has_walked = true; }); // wants 20, and 10 are free
        });
        thread_id ran_in = 0;
        do {
            this_thread::yield();
            latch done(1);
            g.spawn([&] {
                ran_in = this_thread::get_id();
                done.count_down();
            });
            done.wait();
        } while (ran_in != self); // until the other one waits, and nobody overtakes it
        first.count_down();
        outside.join();
    });
    g.join();
    EXPECT_TRUE(has_walked);
}

TEST_P(byte_limit_test, threads_never_hold_more) {
    for (auto const policy : {when_full::record, when_full::block}) {
        most_of bytes;
        spawn_group g(bytes_held{100}, policy);
        std::atomic<int> ran{0};
        for (std::size_t k = 0; k < 400; ++k) {
            std::size_t const own = (k * 37) % 101;
            g.spawn(holding(own, [&bytes, &ran, own] {
                bytes.add(own);
                this_thread::yield();
                bytes.remove(own);
                ++ran;
            }));
            EXPECT_LE(g.held(), 100U);
        }
        g.join();
        EXPECT_EQ(ran.load(), 400);
        EXPECT_LE(bytes.most.load(), 100U);
        EXPECT_EQ(g.held(), 0U);
    }
}

TEST_P(byte_limit_test, foreign_threads_wait_for_bytes) {
    std::atomic<int> ran{0};
    spawn_group g(bytes_held{10}, when_full::block);
    std::array<std::thread, 3> spawners;
    latch ended(3); // main may be the only worker
    for (auto& s : spawners)
        s = std::thread([&] {
            for (std::size_t k = 0; k < 60; ++k) g.spawn(holding(1 + k % 10, [&ran] { ++ran; }));
            ended.count_down();
        });
    ended.wait();
    for (auto& s : spawners) s.join();
    g.join();
    EXPECT_EQ(ran.load(), 180);
}

TEST_P(byte_limit_test, a_large_one_is_not_kept_from_its_bytes_by_small_ones) {
    spawn_group g(bytes_held{3}, when_full::block);
    latch open(1);
    std::atomic<bool> large{false};
    g.spawn(holding(1, [&open] { open.wait(); }));
    auto spawner = tulle::spawn([&] { g.spawn(holding(3, [&large] { large = true; })); });
    while (g.try_spawn(holding(1, [] {}))) this_thread::yield();
    EXPECT_FALSE(g.try_spawn(holding(0, [] {})));
    EXPECT_FALSE(large.load());
    open.count_down();
    spawner.join();
    g.join();
    EXPECT_TRUE(large.load());
    EXPECT_TRUE(g.try_spawn(holding(3, [] {})));
}

TEST_P(byte_limit_test, those_behind_one_that_gives_up_go_on) {
    spawn_group g(bytes_held{2}, when_full::record);
    latch open(1);
    cancellation_source stop;
    std::atomic<bool> behind{false};
    g.spawn(holding(1, [&open] { open.wait(); }));
    auto in_front = tulle::spawn([&] {
        EXPECT_FALSE(g.spawn(wait_limit(stop.get_token()), holding(2, [] { ADD_FAILURE(); })));
    });
    while (g.try_spawn(holding(1, [] {}))) this_thread::yield();
    g.spawn(holding(1, [&behind] { behind = true; })); // kept as a record
    EXPECT_FALSE(behind.load());
    stop.request_stop();
    yield_until(behind);
    in_front.join();
    open.count_down();
    g.join();
}

// They wait for each other.
TEST_P(byte_limit_test, what_comes_free_serves_several) {
    spawn_group g(bytes_held{2}, when_full::record);
    latch open(1), together(2);
    g.spawn(holding(2, [&open] { open.wait(); }));
    for (int k = 0; k < 2; ++k)
        g.spawn(holding(1, [&together] {
            together.count_down();
            together.wait();
        }));
    open.count_down();
    g.join();
    EXPECT_TRUE(together.try_wait());
}

TEST_P(byte_limit_test, a_thread_of_the_group_runs_inline_what_finds_no_bytes) {
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        spawn_group g(bytes_held{10}, policy);
        thread_id outer = 0, inner = 0;
        g.spawn(holding(6, [&] {
            outer = this_thread::get_id();
            g.spawn(holding(5, [&inner] { inner = this_thread::get_id(); }));
            EXPECT_NE(inner, 0U);
        }));
        g.join();
        EXPECT_EQ(inner, outer);
    }
}

TEST_P(byte_limit_test, create_fails_when_there_are_too_few) {
    spawn_group g(bytes_held{10}, when_full::create);
    latch open(1);
    g.spawn(holding(6, [&open] { open.wait(); }));
    EXPECT_THROW(g.spawn(holding(5, [] {})), std::system_error);
    EXPECT_EQ(g.held(), 6U);
    EXPECT_EQ(g.size(), 1U);
    g.spawn(holding(4, [] {}));
    open.count_down();
    g.join();
}

TEST_P(byte_limit_test, results_and_futures_count) {
    spawn_group g(bytes_held{100}, when_full::block);
    latch open(1);
    std::uint64_t word = 0;
    g.spawn_into(word, holding(30, [&open] { return open.wait(), 7U; }));
    auto sum = async(g, holding(40, [&open](int a, int b) { return open.wait(), a + b; }), 2, 3);
    EXPECT_EQ(g.held(), 70U);
    EXPECT_EQ(g.size(), 2U);
    open.count_down();
    EXPECT_EQ(sum.get(), 5);
    EXPECT_EQ(feb::read_ff(word), 7U);
    g.join();
    EXPECT_EQ(g.held(), 0U);
}

TEST_P(byte_limit_test, what_is_not_stated_is_the_captured_state_and_a_stack) {
    latch open(1);
    spawn_group g(bytes_held{std::size_t{1} << 30U}, when_full::block);
    g.spawn([&open] { open.wait(); });
    std::size_t const small = g.held();
    EXPECT_GE(small, stack::k_smallest_bytes + sizeof(void*));
    std::array<char, 1000> large{};
    g.spawn([&open, large] { open.wait(), static_cast<void>(large); });
    EXPECT_GE(g.held(), 2 * small + 1000);
    open.count_down();
    g.join();
    EXPECT_EQ(g.held(), 0U);
}

TEST_P(byte_limit_test, what_cannot_be_copied_holds_nothing) {
    struct throwing {
        throwing() = default;
        throwing(throwing const&) { throw std::runtime_error("no copy"); }
        void operator()() const {}
    };
    throwing const callable;
    for (auto const policy : {when_full::run_inline, when_full::record, when_full::block}) {
        spawn_group g(bytes_held{std::size_t{1} << 30U}, policy);
        EXPECT_THROW(g.spawn(callable), std::runtime_error);
        EXPECT_EQ(g.held(), 0U);
        EXPECT_EQ(g.size(), 0U);
        g.join();
    }
}

TEST_P(byte_limit_test, exceptions_and_shepherds_are_as_in_other_groups) {
    spawn_group g(bytes_held{10}, when_full::block);
    for (int k = 0; k < 10; ++k)
        g.spawn_at(0, holding(5, [] {
                       EXPECT_EQ(this_thread::shepherd_index(), 0);
                       throw std::runtime_error("one of ten");
                   }));
    EXPECT_THROW(g.join(), std::runtime_error);
    EXPECT_THROW(g.spawn_at(100, holding(5, [] {})), std::system_error);
    EXPECT_EQ(g.held(), 0U);
}

// --- bad input -----------------------------------------------------------------------------------

TEST(byte_limit_errors, limits_without_sense) {
    EXPECT_THROW(spawn_group(bytes_held{0}), std::invalid_argument);
    EXPECT_THROW(spawn_group(depth_first_walks{0, 1, 1}), std::invalid_argument);
    EXPECT_THROW(spawn_group(depth_first_walks{1, 0, 1}), std::invalid_argument);
    EXPECT_THROW(spawn_group(depth_first_walks{1, 1, 0}), std::invalid_argument);
    std::size_t const half = std::size_t{1} << 63U;
    EXPECT_THROW(spawn_group(depth_first_walks{2, half, 1}), std::invalid_argument);
    EXPECT_THROW(spawn_group(depth_first_walks{1, half, 2}), std::invalid_argument);
}

TEST(byte_limit_errors, a_thread_that_alone_holds_more_than_all_may) {
    spawn_group g(bytes_held{10}, when_full::block);
    for (auto const bytes : {std::size_t{11}, ~std::size_t{0}}) {
        try {
            g.spawn(holding(bytes, [] { ADD_FAILURE(); }));
            ADD_FAILURE() << "it would wait for ever";
        } catch (std::system_error const& e) {
            EXPECT_EQ(e.code().value(), EINVAL);
        }
    }
    EXPECT_THROW(g.spawn([] {}), std::system_error) << "a stack is larger";
    std::uint64_t word = 3;
    EXPECT_THROW(g.spawn_into(word, holding(11, [] { return 1U; })), std::system_error);
    EXPECT_TRUE(feb::is_full(word));
    finalize();
}

TEST(byte_limit_errors, of_the_c_functions) {
    tulle_group* g = nullptr;
    EXPECT_EQ(tulle_group_create_bytes(nullptr, 1, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_create_bytes(&g, 0, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_create_bytes(&g, 1, 9), -EINVAL);
    EXPECT_EQ(tulle_group_create_walks(&g, 0, 1, 1, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_create_walks(&g, 1, 0, 1, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_create_walks(&g, 1, 1, 0, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_create_walks(&g, 2, ~std::size_t{0}, 1, TULLE_BLOCK), -EINVAL);
    EXPECT_EQ(tulle_group_held(nullptr), 0U);
    auto const nothing = [](void*) {};
    EXPECT_EQ(tulle_group_spawn_holding(nullptr, 1, nothing, nullptr), -EINVAL);
    ASSERT_EQ(tulle_group_create_bytes(&g, 10, TULLE_CREATE), 0);
    EXPECT_EQ(tulle_group_spawn_holding(g, 1, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(tulle_group_spawn_holding(g, 11, nothing, nullptr), -EINVAL);
    latch open(1);
    auto const wait = [](void* l) { static_cast<latch*>(l)->wait(); };
    EXPECT_EQ(tulle_group_spawn_holding(g, 6, wait, &open), 0);
    EXPECT_EQ(tulle_group_spawn_holding(g, 5, nothing, nullptr), -EAGAIN);
    EXPECT_EQ(tulle_group_held(g), 6U);
    open.count_down();
    EXPECT_EQ(tulle_group_destroy(g), 0);
    ASSERT_EQ(tulle_group_create_walks(&g, 1, 1, 8, TULLE_BLOCK), 0);
    EXPECT_EQ(tulle_group_spawn(
                  g,
                  [](void* group) {
                      EXPECT_EQ(tulle_group_spawn(
                                    static_cast<tulle_group*>(group), [](void*) {}, nullptr),
                                -EOVERFLOW);
                  },
                  g),
              0);
    EXPECT_EQ(tulle_group_destroy(g), 0);
    finalize();
}

} // namespace
