// SPDX-License-Identifier: Apache-2.0
// Who reads the result of a qthread that nobody has begun runs it, where that cannot be told from
// waiting for it but by the stack; and clones, one on each worker.
#include "running_qthreads.hpp"

#include <qthread/qthread.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using library = tulle::testing::running_qthreads;

// In a qthread, as main has a stack of which nothing is known.
aligned_t run(qthread_f f, void* argument = nullptr) {
    aligned_t result = 0;
    EXPECT_EQ(qthread_fork(f, argument, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_readFF(&result, &result), QTHREAD_SUCCESS);
    return result;
}

aligned_t stack(void*) { return reinterpret_cast<aligned_t>(qthread_tos()); }

TEST(result, of_a_thread_that_nobody_has_begun_is_computed_by_its_reader) {
    library const running(1);
    aligned_t const same = run([](void*) -> aligned_t {
        aligned_t by_ff = 0, by_fe = 0;
        syncvar_t by_syncvar = SYNCVAR_STATIC_INITIALIZER;
        uint64_t of_syncvar = 0;
        qthread_fork(&stack, nullptr, &by_ff);
        qthread_readFF(&by_ff, &by_ff);
        qthread_fork(&stack, nullptr, &by_fe);
        aligned_t taken = 0;
        qthread_readFE(&taken, &by_fe);
        EXPECT_EQ(qthread_feb_status(&by_ff), 1);
        EXPECT_EQ(qthread_feb_status(&by_fe), 0);
        qthread_fork_syncvar(&stack, nullptr, &by_syncvar);
        qthread_syncvar_readFF(&of_syncvar, &by_syncvar);
        aligned_t const mine = stack(nullptr);
        return (by_ff == mine ? 1U : 0U) + (taken == mine ? 1U : 0U) +
               (of_syncvar == INT64TOINT60(mine) ? 1U : 0U);
    });
    EXPECT_EQ(same, 3U);
}

struct own {
    unsigned id;
    aligned_t* word;
    unsigned char local;
};
aligned_t tell(void* argument) {
    auto& told = *static_cast<own*>(argument);
    auto* const local = static_cast<unsigned char*>(qthread_get_tasklocal(8));
    told = {qthread_id(), qthread_retloc(), local[0]};
    local[0] = 7;
    return 0;
}

TEST(result, whoever_computes_it_is_a_qthread_of_its_own) {
    library const running(1);
    run([](void*) -> aligned_t {
        own child{};
        aligned_t result = 0;
        auto* const local = static_cast<unsigned char*>(qthread_get_tasklocal(8));
        local[0] = 9;
        unsigned const id = qthread_id();
        aligned_t* const word = qthread_retloc();
        qthread_fork(&tell, &child, &result);
        qthread_readFF(nullptr, &result);
        EXPECT_NE(child.id, id);
        EXPECT_EQ(child.word, &result);
        EXPECT_EQ(child.local, 0);
        EXPECT_EQ(local[0], 9);
        EXPECT_EQ(qthread_id(), id);
        EXPECT_EQ(qthread_retloc(), word);
        return 0;
    });
}

aligned_t itself(void* argument) { return reinterpret_cast<aligned_t>(argument); }

TEST(result, of_more_threads_than_are_remembered_in_any_order) {
    library const running(2);
    run([](void*) -> aligned_t {
        constexpr std::size_t k_threads = 50;
        for (int const order : {0, 1, 2}) {
            std::vector<aligned_t> results(k_threads);
            for (std::size_t k = 0; k != k_threads; ++k)
                qthread_fork(&itself, reinterpret_cast<void*>(k), &results[k]);
            for (std::size_t k = 0; k != k_threads; ++k) {
                std::size_t const at = order == 0 ? k : order == 1 ? k_threads - 1 - k : k * 7 % 50;
                aligned_t value = 0;
                qthread_readFF(&value, &results[at]);
                EXPECT_EQ(value, at);
            }
        }
        return 0;
    });
}

// The last ones go unread.
TEST(result, need_not_be_read) {
    library const running(2);
    static std::atomic<int> s_ended{0};
    s_ended = 0;
    static std::array<aligned_t, 3> s_results{};
    run([](void*) -> aligned_t {
        for (aligned_t& word : s_results)
            qthread_fork(
                [](void*) -> aligned_t {
                    ++s_ended;
                    return 1;
                },
                nullptr, &word);
        return 0;
    });
    for (aligned_t& word : s_results) qthread_readFF(nullptr, &word);
    EXPECT_EQ(s_ended, 3);
}

// Each uses a part of its stack; all of them together would use more than one.
aligned_t descend(void* argument) {
    auto const depth = reinterpret_cast<std::uintptr_t>(argument);
    constexpr std::size_t k_frame = 8192;
    volatile unsigned char frame[k_frame];
    for (std::size_t k = 0; k < k_frame; k += 256) frame[k] = static_cast<unsigned char>(depth);
    if (depth == 0) return 0;
    aligned_t below = 0;
    qthread_fork(&descend, reinterpret_cast<void*>(depth - 1), &below);
    qthread_readFF(&below, &below);
    return below + (frame[256] == static_cast<unsigned char>(depth) ? 1 : 0);
}

TEST(result, of_a_deep_chain_takes_more_than_one_stack) {
    library const running(2);
    EXPECT_EQ(run(&descend, reinterpret_cast<void*>(std::uintptr_t{500})), 500U);
}

aligned_t go_to_the_other(void*) {
    return static_cast<aligned_t>(qthread_migrate_to(qthread_shep() == 0 ? 1 : 0));
}

TEST(result, of_a_thread_that_goes_elsewhere_does_not_take_a_placed_reader_along) {
    library const running(2);
    auto const reader = +[](void*) -> aligned_t {
        for (int k = 0; k != 20; ++k) {
            aligned_t result = 0;
            qthread_fork(&go_to_the_other, nullptr, &result);
            qthread_readFF(nullptr, &result);
            EXPECT_EQ(result, aligned_t{QTHREAD_SUCCESS});
            EXPECT_EQ(qthread_shep(), 1);
        }
        return 0;
    };
    aligned_t result = 0;
    ASSERT_EQ(qthread_fork_to(reader, nullptr, &result, 1), QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &result);
}

TEST(result, of_a_thread_for_another_shepherd_is_computed_there) {
    library const running(2);
    auto const reader = +[](void*) -> aligned_t {
        aligned_t result = 0;
        qthread_fork_to([](void*) -> aligned_t { return qthread_shep(); }, nullptr, &result,
                        qthread_shep() == 0 ? 1 : 0);
        qthread_shepherd_id_t const before = qthread_shep();
        qthread_readFF(&result, &result);
        return result != before ? 1 : 0;
    };
    EXPECT_EQ(run(reader), 1U);
}

// --- yields --------------------------------------------------------------------------------------

std::vector<int> g_order;

template <int Number> aligned_t note(void*) {
    g_order.push_back(Number);
    return 0;
}

TEST(yield, goes_to_the_newest_child_first) {
    library const running(1);
    g_order.clear();
    run([](void*) -> aligned_t {
        qthread_fork(&note<1>, nullptr, nullptr);
        qthread_fork(&note<2>, nullptr, nullptr);
        while (g_order.size() < 2) qthread_yield();
        g_order.push_back(3);
        return 0;
    });
    // A yield now and then is to the one that has waited longest.
    EXPECT_TRUE(g_order == std::vector<int>({2, 1, 3}) || g_order == std::vector<int>({1, 2, 3}));
}

// Others have their turn although a thread always has a child to yield to.
TEST(yield, leaves_nobody_waiting_behind_children) {
    library const running(1);
    static std::atomic<bool> s_other_has_run{false};
    s_other_has_run = false;
    aligned_t const rounds = run([](void*) -> aligned_t {
        qthread_fork(
            [](void*) -> aligned_t {
                for (int k = 0; k != 5; ++k) qthread_yield();
                s_other_has_run = true;
                return 0;
            },
            nullptr, nullptr);
        qthread_yield();
        aligned_t count = 0;
        for (; !s_other_has_run && count != 100'000; ++count) {
            qthread_fork(&note<4>, nullptr, nullptr);
            qthread_yield();
        }
        return count;
    });
    EXPECT_LT(rounds, 10'000U);
}

// A tree whose inner threads wait by yields, on several workers.
std::atomic<int> g_leaves{0};

aligned_t grow_tree(void* argument) {
    auto const* const given = static_cast<std::uintptr_t const*>(argument);
    auto* const left = reinterpret_cast<std::atomic<int>*>(given[1]);
    if (given[0] == 0) {
        ++g_leaves;
    } else {
        std::atomic<int> mine{2};
        std::uintptr_t const child[2] = {given[0] - 1, reinterpret_cast<std::uintptr_t>(&mine)};
        for (int k = 0; k != 2; ++k)
            qthread_fork_copyargs(&grow_tree, child, sizeof child, nullptr);
        while (mine != 0) qthread_yield();
    }
    --*left;
    return 0;
}

TEST(yield, waits_for_a_tree_of_threads) {
    library const running(3);
    g_leaves = 0;
    std::atomic<int> root{1};
    std::uintptr_t const given[2] = {12, reinterpret_cast<std::uintptr_t>(&root)};
    qthread_fork_copyargs(&grow_tree, given, sizeof given, nullptr);
    while (root != 0) qthread_yield();
    EXPECT_EQ(g_leaves, 1 << 12);
}

// --- clones --------------------------------------------------------------------------------------

std::array<std::atomic<int>, 8> g_clones_on{}; // each worker

aligned_t count_clone(void*) {
    ++g_clones_on[qthread_worker(nullptr)];
    return 5;
}

TEST(clones, one_on_each_worker_of_the_shepherd) {
    ::setenv("QT_NUM_SHEPHERDS", "1", 1);
    ::setenv("QT_NUM_WORKERS_PER_SHEPHERD", "3", 1);
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    for (int round = 0; round != 5; ++round) {
        for (auto& count : g_clones_on) count = 0;
        aligned_t all = 0;
        ASSERT_EQ(qthread_fork_clones_to_local_priority(&count_clone, nullptr, &all, 0, 2),
                  QTHREAD_SUCCESS);
        aligned_t value = 0;
        qthread_readFF(&value, &all);
        EXPECT_EQ(value, 5U);
        for (std::size_t k = 0; k != 3; ++k) EXPECT_EQ(g_clones_on[k], 1) << "worker " << k;
    }
    qthread_finalize();
}

TEST(clones, more_than_workers_all_run) {
    library const running(2);
    for (auto& count : g_clones_on) count = 0;
    aligned_t all = 0;
    ASSERT_EQ(qthread_fork_clones_to_local_priority(&count_clone, nullptr, &all, 1, 9),
              QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &all);
    EXPECT_EQ(g_clones_on[0] + g_clones_on[1], 10);
    EXPECT_EQ(g_clones_on[0], 0);
    ASSERT_EQ(qthread_fork_clones_to_local_priority(&count_clone, nullptr, nullptr, 0, 0),
              QTHREAD_SUCCESS);
}

} // namespace
