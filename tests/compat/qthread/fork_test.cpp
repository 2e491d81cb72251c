// SPDX-License-Identifier: Apache-2.0
// Forks in all their forms, results of all kinds, teams, futures, and finalise and initialise
// again.
#include "base/sanitize.hpp"
#include "running_qthreads.hpp"

#include <qthread/futurelib.h>
#include <qthread/qthread.h>
#include <qthread/sinc.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using library = tulle::testing::running_qthreads;

aligned_t increment(void* argument) { return *static_cast<aligned_t*>(argument) + 1; }
aligned_t where(void*) { return qthread_shep(); }
aligned_t nothing(void*) { return 0; }

aligned_t wait_for(aligned_t& result) {
    aligned_t value = 0;
    EXPECT_EQ(qthread_readFF(&value, &result), QTHREAD_SUCCESS);
    return value;
}
uint64_t wait_for(syncvar_t& result) {
    uint64_t value = 0;
    EXPECT_EQ(qthread_syncvar_readFF(&value, &result), QTHREAD_SUCCESS);
    return value;
}

TEST(fork, result_is_a_word_that_becomes_full) {
    library const running(2);
    aligned_t forty_one = 41, result = 0;
    ASSERT_EQ(qthread_fork(&increment, &forty_one, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 42U);
    ASSERT_EQ(qthread_fork_net(&increment, &forty_one, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 42U);
    EXPECT_EQ(qthread_feb_status(&result), 1);
}

TEST(fork, to_a_shepherd_runs_there_and_numbers_wrap_around) {
    library const running(3);
    for (qthread_shepherd_id_t s = 0; s < 6; ++s) {
        aligned_t result = 0;
        ASSERT_EQ(qthread_fork_to(&where, nullptr, &result, s), QTHREAD_SUCCESS);
        EXPECT_EQ(wait_for(result), s % 3U);
        syncvar_t as_syncvar = SYNCVAR_STATIC_INITIALIZER;
        ASSERT_EQ(qthread_fork_syncvar_to(&where, nullptr, &as_syncvar, s), QTHREAD_SUCCESS);
        EXPECT_EQ(wait_for(as_syncvar), s % 3U);
    }
}

TEST(fork, copies_of_arguments_outlive_the_originals) {
    library const running(2);
    constexpr int k_threads = 100;
    aligned_t results[k_threads]{};
    for (aligned_t k = 0; k < k_threads; ++k) {
        aligned_t argument = k;
        ASSERT_EQ(qthread_fork_copyargs(&increment, &argument, sizeof argument, &results[k]),
                  QTHREAD_SUCCESS);
        argument = ~aligned_t{0};
    }
    for (aligned_t k = 0; k < k_threads; ++k) EXPECT_EQ(wait_for(results[k]), k + 1);
}

TEST(fork, large_arguments_are_copied) {
    library const running(2);
    struct large {
        char text[5000];
    };
    auto const length = +[](void* argument) -> aligned_t {
        return std::strlen(static_cast<large*>(argument)->text);
    };
    auto const given = std::make_unique<large>();
    std::memset(given->text, 'x', 4999);
    aligned_t result = 0;
    ASSERT_EQ(qthread_fork_copyargs_to(length, given.get(), sizeof(large),
                                       reinterpret_cast<syncvar_t*>(&result), 1),
              QTHREAD_SUCCESS);
    std::memset(given->text, 0, 4999);
    EXPECT_EQ(wait_for(result), 4999U);
}

TEST(fork, syncvar_results) {
    library const running(2);
    aligned_t one = 1;
    syncvar_t result = SYNCVAR_STATIC_INITIALIZER;
    ASSERT_EQ(qthread_fork_syncvar(&increment, &one, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 2U);
    ASSERT_EQ(qthread_fork_syncvar_copyargs(&increment, &one, sizeof one, &result),
              QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 2U);
    ASSERT_EQ(qthread_fork_syncvar_copyargs_simple(&increment, &one, sizeof one, &result),
              QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 2U);
    ASSERT_EQ(qthread_fork_syncvar_copyargs_to(&increment, &one, sizeof one, &result, 1),
              QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 2U);
}

struct gate {
    aligned_t a = 0, b = 0;
    std::atomic<bool> has_run{false};
};
aligned_t pass(void* argument) {
    static_cast<gate*>(argument)->has_run = true;
    return 7;
}

template <class Fork> void expect_to_wait_for_both(Fork fork) {
    gate g;
    aligned_t result = 0;
    qthread_empty(&g.a);
    qthread_empty(&g.b);
    ASSERT_EQ(fork(g, result), QTHREAD_SUCCESS);
    qthread_fill(&g.a);
    for (int k = 0; k < 100; ++k) qthread_yield();
    EXPECT_FALSE(g.has_run);
    EXPECT_EQ(qthread_feb_status(&result), 0);
    qthread_fill(&g.b);
    EXPECT_EQ(wait_for(result), 7U);
}

TEST(precondition, starts_when_all_words_are_full) {
    library const running(2);
    expect_to_wait_for_both([](gate& g, aligned_t& result) {
        return qthread_fork_precond(&pass, &g, &result, 2, &g.a, &g.b);
    });
    expect_to_wait_for_both([](gate& g, aligned_t& result) {
        return qthread_fork_precond_to(&pass, &g, &result, 1, 2, &g.a, &g.b);
    });
    expect_to_wait_for_both([](gate& g, aligned_t& result) {
        return qthread_fork_precond_simple(&pass, &g, &result, 2, &g.a, &g.b);
    });
    expect_to_wait_for_both([](gate& g, aligned_t& result) {
        aligned_t* const list[] = {&g.a, &g.b};
        return qthread_fork_precond(&pass, &g, &result, -2, list);
    });
    aligned_t result = 0;
    gate g;
    EXPECT_EQ(qthread_fork_precond(&pass, &g, &result, 0), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 7U);
}

TEST(precondition, with_a_copied_argument) {
    library const running(2);
    aligned_t ready = 0, one = 1;
    syncvar_t result = SYNCVAR_STATIC_INITIALIZER;
    qthread_empty(&ready);
    ASSERT_EQ(qthread_fork_copyargs_precond(&increment, &one, sizeof one, &result, 1, &ready),
              QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_syncvar_status(&result), 0);
    qthread_fill(&ready);
    EXPECT_EQ(wait_for(result), 2U);
}

TEST(spawn, with_preconditions_and_flags) {
    library const running(2);
    aligned_t ready = 0, result = 0, one = 1;
    qthread_empty(&ready);
    auto** const list = static_cast<aligned_t**>(std::malloc(2 * sizeof(aligned_t*)));
    list[0] = reinterpret_cast<aligned_t*>(1);
    list[1] = &ready;
    ASSERT_EQ(qthread_spawn(&increment, &one, sizeof one, &result, 1, list, NO_SHEPHERD,
                            QTHREAD_SPAWN_SIMPLE | QTHREAD_SPAWN_LOCAL_PRIORITY),
              QTHREAD_SUCCESS);
    qthread_fill(&ready);
    EXPECT_EQ(wait_for(result), 2U);
    EXPECT_EQ(qthread_spawn(nullptr, nullptr, 0, nullptr, 0, nullptr, NO_SHEPHERD, 0),
              QTHREAD_BADARGS);
}

void add(void* target, void const* source) {
    *static_cast<aligned_t*>(target) += *static_cast<aligned_t const*>(source);
}

TEST(spawn, results_into_sincs) {
    library const running(2);
    constexpr aligned_t k_threads = 200;
    aligned_t const zero = 0;
    aligned_t sum = 0;
    qt_sinc_t* const sinc = qt_sinc_create(sizeof zero, &zero, &add, k_threads);
    for (aligned_t k = 0; k < k_threads; ++k)
        ASSERT_EQ(qthread_spawn(&increment, &k, sizeof k, sinc, 0, nullptr, NO_SHEPHERD,
                                QTHREAD_SPAWN_RET_SINC),
                  QTHREAD_SUCCESS);
    qt_sinc_wait(sinc, &sum);
    EXPECT_EQ(sum, k_threads * (k_threads + 1) / 2);
    qt_sinc_destroy(sinc);
    qt_sinc_t bare;
    qt_sinc_init(&bare, 0, nullptr, nullptr, 2);
    ASSERT_EQ(qthread_spawn(&nothing, nullptr, 0, &bare, 0, nullptr, NO_SHEPHERD,
                            QTHREAD_SPAWN_RET_SINC_VOID),
              QTHREAD_SUCCESS);
    qthread_call_method(&nothing, nullptr, &bare, QTHREAD_SPAWN_RET_SINC_VOID);
    qt_sinc_wait(&bare, nullptr);
    qt_sinc_fini(&bare);
}

TEST(fork, call_method_delivers_as_a_qthread_does) {
    library const running(2);
    aligned_t result = 0, one = 1;
    qthread_empty(&result);
    qthread_call_method(&increment, &one, &result, 0);
    EXPECT_EQ(wait_for(result), 2U);
    qthread_call_method(&increment, &one, nullptr, 0);
    EXPECT_EQ(one, 1U);
}

TEST(fork, by_an_os_thread_that_is_no_worker) {
    library const running(2);
    aligned_t one = 1, result = 0;
    std::thread([&] {
        EXPECT_EQ(qthread_shep(), NO_SHEPHERD);
        EXPECT_EQ(qthread_id(), static_cast<unsigned>(QTHREAD_NON_TASK_ID));
        EXPECT_EQ(qthread_fork(&increment, &one, &result), QTHREAD_SUCCESS);
        EXPECT_EQ(wait_for(result), 2U);
    }).join();
}

TEST(fork, before_and_after_the_library_runs_is_not_allowed) {
    EXPECT_EQ(qthread_fork(&nothing, nullptr, nullptr), QTHREAD_NOT_ALLOWED);
    { library const running(2); }
    EXPECT_EQ(qthread_fork(&nothing, nullptr, nullptr), QTHREAD_NOT_ALLOWED);
}

TEST(lifecycle, initialise_again_with_another_number_of_shepherds) {
    for (qthread_shepherd_id_t const n :
         {qthread_shepherd_id_t{1}, qthread_shepherd_id_t{3}, qthread_shepherd_id_t{2}}) {
        library const running(n);
        EXPECT_EQ(qthread_initialize(), QTHREAD_SUCCESS); // once more does nothing
        EXPECT_EQ(qthread_num_shepherds(), n);
        EXPECT_EQ(qthread_num_workers(), n);
        aligned_t one = 1, result = 0;
        ASSERT_EQ(qthread_fork(&increment, &one, &result), QTHREAD_SUCCESS);
        EXPECT_EQ(wait_for(result), 2U);
    }
}

TEST(lifecycle, finalise_waits_for_qthreads_that_nobody_waits_for) {
    static std::atomic<int> s_ended{0};
    {
        library const running(2);
        for (int k = 0; k < 100; ++k)
            qthread_fork(
                +[](void*) -> aligned_t {
                    for (int round = 0; round < 10; ++round) qthread_yield();
                    ++s_ended;
                    return 0;
                },
                nullptr, nullptr);
    }
    EXPECT_EQ(s_ended, 100);
}

TEST(lifecycle, goes_on_after_a_finalise_with_a_qthread_and_a_future_that_wait_for_ever) {
    static aligned_t s_never = 0, s_begun = 0, s_future = 0;
    auto const wait = +[](void*) -> aligned_t {
        aligned_t value = 0;
        qthread_readFF(&value, &s_never);
        return value;
    };
    {
        library const running(2);
        qthread_empty(&s_never);
        qthread_fork(wait, nullptr, &s_begun);
        ASSERT_EQ(future_init(1), QTHREAD_SUCCESS);
        future_fork(wait, nullptr, &s_future);
    }
    library const again(2);
    aligned_t one = 1, result = 0;
    ASSERT_EQ(qthread_fork(&increment, &one, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 2U);
    qthread_fill(&s_never);
    wait_for(s_begun);
    wait_for(s_future);
}

TEST(lifecycle, finalise_waits_for_one_that_computes_on_the_only_worker) {
    static std::atomic<bool> s_ended;
    s_ended = false; // also where the test is repeated
    {
        library const running(1);
        qthread_fork(
            +[](void*) -> aligned_t {
                auto const computed = [] {
                    timespec used{};
                    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
                    return std::chrono::seconds(used.tv_sec) +
                           std::chrono::nanoseconds(used.tv_nsec);
                };
                for (int piece = 0; piece != 40; ++piece) { // longer than finalise is patient
                    auto const end = computed() + std::chrono::milliseconds(50);
                    while (computed() < end) {}
                    qthread_yield();
                }
                s_ended = true;
                return 0;
            },
            nullptr, nullptr);
    }
    EXPECT_TRUE(s_ended);
}

// The child stands for a program on a machine that is busy with others: whenever it sleeps it is
// woken late.
TEST(lifecycle, finalise_gives_up_where_others_have_the_processors) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "it ends children of several threads that make another one";
    constexpr unsigned k_patience_s = 60;
    pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(k_patience_s);
        static aligned_t s_never;
        qthread_init(2);
        qthread_empty(&s_never);
        qthread_fork(
            +[](void*) -> aligned_t { return wait_for(s_never); }, nullptr, nullptr);
        qthread_finalize();
        ::_exit(3);
    }
    int status = -1;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        ::kill(child, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ::kill(child, SIGCONT);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(status, 3 << 8);
}

// --- teams ---------------------------------------------------------------------------------------

std::atomic<int> s_members{0};
aligned_t member(void*) {
    for (int k = 0; k < 50; ++k) qthread_yield();
    ++s_members;
    return qt_team_id();
}
aligned_t lead(void* subteam) {
    unsigned const own = qt_team_id();
    for (int k = 0; k < 10; ++k) qthread_fork(&member, nullptr, nullptr);
    if (subteam != nullptr) {
        aligned_t result = 0;
        qthread_fork_new_subteam(
            +[](void* parent) -> aligned_t {
                return qt_team_parent_id() == *static_cast<unsigned*>(parent) ? lead(nullptr) : 0;
            },
            const_cast<unsigned*>(&own), &result);
        EXPECT_GT(wait_for(result), own);
    }
    return own;
}

TEST(team, leader_ends_when_all_members_and_subteams_have) {
    library const running(2);
    s_members = 0;
    EXPECT_EQ(qt_team_id(), static_cast<unsigned>(QTHREAD_DEFAULT_TEAM_ID));
    EXPECT_EQ(qt_team_parent_id(), static_cast<unsigned>(QTHREAD_NON_TEAM_ID));
    aligned_t result = 0;
    ASSERT_EQ(qthread_fork_new_team(&lead, &result, &result), QTHREAD_SUCCESS);
    EXPECT_GT(wait_for(result), static_cast<unsigned>(QTHREAD_DEFAULT_TEAM_ID));
    EXPECT_EQ(s_members, 20);
}

TEST(team, members_inherit_it_and_subteams_of_the_default_team_have_it_as_parent) {
    library const running(2);
    aligned_t result = 0;
    auto const parent = +[](void*) -> aligned_t { return qt_team_parent_id(); };
    ASSERT_EQ(qthread_fork_new_subteam(parent, nullptr, &result), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), static_cast<unsigned>(QTHREAD_DEFAULT_TEAM_ID));
    auto const inherits = +[](void*) -> aligned_t {
        aligned_t of_child = 0;
        qthread_fork(&member, nullptr, &of_child);
        return wait_for(of_child) == qt_team_id() ? 1 : 0;
    };
    ASSERT_EQ(qthread_fork_new_team_to(inherits, nullptr, &result, 1), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 1U);
    syncvar_t as_syncvar = SYNCVAR_STATIC_INITIALIZER;
    ASSERT_EQ(qthread_fork_syncvar_new_team(inherits, nullptr, &as_syncvar), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(as_syncvar), 1U);
}

TEST(team, critical_sections_exclude_each_other) {
    library const running(2);
    static aligned_t s_count = 0;
    aligned_t results[20];
    for (aligned_t& r : results)
        qthread_fork(
            +[](void*) -> aligned_t {
                for (int k = 0; k < 100; ++k) {
                    qt_team_critical_section(BEGIN);
                    aligned_t const before = s_count;
                    qthread_yield();
                    s_count = before + 1;
                    qt_team_critical_section(END);
                }
                return 0;
            },
            nullptr, &r);
    for (aligned_t& r : results) wait_for(r);
    EXPECT_EQ(s_count, 2000U);
}

// --- futures -------------------------------------------------------------------------------------

std::atomic<int> s_alive{0}, s_most{0};
aligned_t future(void*) {
    int const now = ++s_alive;
    for (int most = s_most; now > most && !s_most.compare_exchange_weak(most, now);) {}
    for (int k = 0; k < 20; ++k) qthread_yield();
    --s_alive;
    return qthread_id() != QTHREAD_NON_TASK_ID ? 3 : 0;
}

TEST(future, at_most_so_many_on_each_shepherd) {
    library const running(2);
    s_alive = s_most = 0;
    ASSERT_EQ(future_init(3), QTHREAD_SUCCESS);
    aligned_t results[200];
    for (aligned_t& r : results) ASSERT_EQ(future_fork(&future, nullptr, &r), QTHREAD_SUCCESS);
    for (aligned_t& r : results) EXPECT_EQ(wait_for(r), 3U);
    EXPECT_LE(s_most, 6);
    aligned_t result = 0;
    ASSERT_EQ(future_fork_to(&where, nullptr, &result, 1), QTHREAD_SUCCESS);
    EXPECT_EQ(wait_for(result), 1U);
    EXPECT_EQ(future_init(-1), QTHREAD_BADARGS);
}

aligned_t tree(void* depth) {
    auto const left = reinterpret_cast<std::uintptr_t>(depth);
    if (left == 0) return 1;
    aligned_t a = 0, b = 0;
    future_fork(&tree, reinterpret_cast<void*>(left - 1), &a);
    future_fork(&tree, reinterpret_cast<void*>(left - 1), &b);
    return wait_for(a) + wait_for(b);
}

TEST(future, without_a_limit_they_are_qthreads) {
    library const running(2);
    EXPECT_EQ(tree(reinterpret_cast<void*>(5)), 32U);
    ASSERT_EQ(future_init(1000), QTHREAD_SUCCESS);
    EXPECT_EQ(tree(reinterpret_cast<void*>(5)), 32U);
}

} // namespace
