// SPDX-License-Identifier: Apache-2.0
// Who and where a qthread is, shepherds that are disabled, the environment, local memory, keys and
// blocking calls.
#include "running_qthreads.hpp"
#include "standing_by.hpp"

#include <qthread/io.h>
#include <qthread/qt_syscalls.h>
#include <qthread/qthread.h>
#include <qthread/tls.h>

#include <tulle/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using library = tulle::testing::running_qthreads;

// Variables of the environment for a scope; qthread_init() has set some of them.
struct environment {
    explicit environment(std::vector<std::pair<char const*, char const*>> set) {
        for (char const* const name : {"QT_NUM_SHEPHERDS", "QT_NUM_WORKERS_PER_SHEPHERD"})
            ::unsetenv(name);
        for (auto const& [name, value] : set) {
            ::setenv(name, value, 1);
            names.push_back(name);
        }
    }
    ~environment() {
        for (char const* const name : names) ::unsetenv(name);
    }
    environment(environment const&) = delete;
    environment& operator=(environment const&) = delete;

    std::vector<char const*> names;
};

using job = std::function<void()>;
aligned_t run_job(void* j) {
    (*static_cast<job*>(j))();
    return 0;
}
void run(job what, qthread_shepherd_id_t where = NO_SHEPHERD) {
    aligned_t done = 0;
    ASSERT_EQ(qthread_fork_to(&run_job, &what, &done, where), QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &done);
}

TEST(identity, numbers_are_drawn_when_asked_for) {
    library const running(1);
    EXPECT_EQ(qthread_id(), 1U);
    std::set<unsigned> ids{1};
    for (int k = 0; k < 10; ++k)
        run([&] {
            unsigned const id = qthread_id();
            EXPECT_TRUE(ids.insert(id).second);
            EXPECT_EQ(qthread_id(), id);
        });
    EXPECT_EQ(*ids.rbegin(), 11U);
}

TEST(identity, shepherds_and_workers) {
    library const running(3);
    EXPECT_EQ(qthread_shep(), 0);
    EXPECT_EQ(qthread_shep_ok(), 1);
    qthread_shepherd_id_t s = 9;
    EXPECT_EQ(qthread_worker(&s), 0);
    EXPECT_EQ(s, 0);
    EXPECT_EQ(qthread_worker_unique(nullptr), 1);
    EXPECT_EQ(qthread_worker_local(nullptr), 0);
    for (qthread_shepherd_id_t k = 0; k < 3; ++k)
        run(
            [k] {
                qthread_shepherd_id_t here = NO_SHEPHERD;
                EXPECT_EQ(qthread_worker(&here), k);
                EXPECT_EQ(here, k);
            },
            k);
    EXPECT_EQ(qthread_num_workers_local(1), 1);
    for (qthread_shepherd_id_t const from : {qthread_shepherd_id_t{0}, qthread_shepherd_id_t{2}}) {
        s = from;
        qthread_shep_next(&s);
        EXPECT_EQ(s, (from + 1) % 3);
        qthread_shep_prev(&s);
        EXPECT_EQ(s, from);
        qthread_shep_prev_local(&s);
        EXPECT_EQ(s, (from + 2) % 3);
        qthread_shep_next_local(&s);
        EXPECT_EQ(s, from);
    }
}

TEST(identity, of_an_os_thread) {
    library const running(1);
    std::thread([] {
        EXPECT_EQ(qthread_id(), static_cast<unsigned>(QTHREAD_NON_TASK_ID));
        EXPECT_EQ(qthread_shep(), NO_SHEPHERD);
        EXPECT_EQ(qthread_worker(nullptr), NO_WORKER);
        EXPECT_EQ(qthread_shep_ok(), QTHREAD_PTHREAD_ERROR);
        EXPECT_EQ(qt_team_id(), static_cast<unsigned>(QTHREAD_NON_TEAM_ID));
        EXPECT_EQ(qthread_retloc(), nullptr);
        EXPECT_EQ(qthread_stackleft(), 0U);
        EXPECT_EQ(qthread_get_tasklocal(8), nullptr);
        EXPECT_EQ(qthread_size_tasklocal(), 0U);
        EXPECT_EQ(qthread_sorted_sheps(), nullptr);
        EXPECT_EQ(qthread_migrate_to(0), QTHREAD_NOT_ALLOWED);
        EXPECT_EQ(qthread_readstate(BUSYNESS), static_cast<size_t>(-1));
        qthread_yield();
        qt_begin_blocking_action();
        qt_end_blocking_action();
    }).join();
    EXPECT_EQ(qthread_migrate_to(0), QTHREAD_NOT_ALLOWED);
}

TEST(identity, neighbours_are_sorted_and_end_with_none) {
    library const running(4);
    for (qthread_shepherd_id_t from = 0; from < 4; ++from) {
        auto const* const sorted = qthread_sorted_sheps_remote(from);
        EXPECT_EQ(sorted[3], NO_SHEPHERD);
        EXPECT_EQ(std::set<int>(sorted, sorted + 3).size() +
                      std::set<int>(sorted, sorted + 3).count(from),
                  3U);
        for (int k = 1; k < 3; ++k)
            EXPECT_LE(qthread_distance(from, sorted[k - 1]), qthread_distance(from, sorted[k]));
    }
    EXPECT_EQ(qthread_sorted_sheps(), qthread_sorted_sheps_remote(0));
    EXPECT_EQ(qthread_distance(1, 1), 0);
    EXPECT_GE(qthread_distance(1, 2), 10);
    EXPECT_EQ(qthread_distance(0, 4), QTHREAD_BADARGS);
    EXPECT_EQ(qthread_sorted_sheps_remote(4), nullptr);
}

TEST(identity, stack_and_return_location) {
    library const running(1);
    static aligned_t s_result = 0;
    auto const body = +[](void*) -> aligned_t {
        auto* const here = static_cast<char*>(__builtin_frame_address(0));
        EXPECT_GT(here, qthread_tos());
        EXPECT_LT(here, qthread_bos());
        EXPECT_GE(qthread_stackleft(), 8192U);
        EXPECT_LE(qthread_stackleft(),
                  static_cast<size_t>(here - static_cast<char*>(qthread_tos())));
        EXPECT_EQ(qthread_retloc(), &s_result);
        return 1;
    };
    ASSERT_EQ(qthread_fork(body, nullptr, &s_result), QTHREAD_SUCCESS);
    qthread_readFF(nullptr, &s_result);
    EXPECT_EQ(qthread_retloc(), nullptr);
}

TEST(state, tells_numbers) {
    library const running(2);
    EXPECT_EQ(qthread_readstate(TOTAL_SHEPHERDS), 2U);
    EXPECT_EQ(qthread_readstate(ACTIVE_SHEPHERDS), 2U);
    EXPECT_EQ(qthread_readstate(TOTAL_WORKERS), 2U);
    EXPECT_EQ(qthread_readstate(ACTIVE_WORKERS), 2U);
    EXPECT_GE(qthread_readstate(STACK_SIZE), 2048U);
    EXPECT_GT(qthread_readstate(RUNTIME_DATA_SIZE), 0U);
    EXPECT_EQ(qthread_readstate(BUSYNESS), 1U);
    EXPECT_EQ(qthread_readstate(NODE_BUSYNESS), 1U);
    EXPECT_EQ(qthread_readstate(WORKER_OCCUPATION), 1U);
    EXPECT_EQ(qthread_readstate(CURRENT_SHEPHERD), 0U);
    EXPECT_EQ(qthread_readstate(CURRENT_WORKER), 0U);
    EXPECT_EQ(qthread_readstate(CURRENT_UNIQUE_WORKER), 0U);
    EXPECT_EQ(qthread_readstate(CURRENT_TEAM), static_cast<size_t>(QTHREAD_DEFAULT_TEAM_ID));
    EXPECT_EQ(qthread_readstate(PARENT_TEAM), static_cast<size_t>(QTHREAD_NON_TEAM_ID));
    EXPECT_EQ(qthread_readstate(static_cast<introspective_state>(15)), static_cast<size_t>(-1));
}

// --- shepherds and workers that are disabled -----------------------------------------------------

TEST(disabled, shepherd_runs_nothing_until_it_is_enabled) {
    library const running(3);
    EXPECT_EQ(qthread_disable_shepherd(0), QTHREAD_NOT_ALLOWED);
    EXPECT_EQ(qthread_disable_shepherd(3), QTHREAD_BADARGS);
    ASSERT_EQ(qthread_disable_shepherd(1), QTHREAD_SUCCESS);
    wait_until_workers_stand_by(1);
    EXPECT_EQ(qthread_num_shepherds(), 2);
    EXPECT_EQ(qthread_num_workers(), 2);
    EXPECT_EQ(qthread_readstate(TOTAL_SHEPHERDS), 3U);
    for (int k = 0; k < 20; ++k) run([] { EXPECT_NE(qthread_shep(), 1); }, 1);
    run(
        [] {
            EXPECT_EQ(qthread_migrate_to(1), QTHREAD_SUCCESS);
            EXPECT_NE(qthread_shep(), 1);
        },
        2);
    qthread_enable_shepherd(1);
    EXPECT_EQ(qthread_num_shepherds(), 3);
    for (int k = 0; k < 20; ++k) run([] { EXPECT_EQ(qthread_shep(), 1); }, 1);
}

TEST(disabled, qthreads_leave_a_shepherd_at_their_next_wait) {
    library const running(2);
    std::atomic<bool> here{false}, go{false};
    aligned_t done = 0;
    job body = [&] {
        EXPECT_EQ(qthread_shep(), 1);
        EXPECT_EQ(qthread_shep_ok(), 1);
        here = true;
        while (!go) {}
        EXPECT_EQ(qthread_shep_ok(), 0);
        for (int k = 0; k < 1000 && qthread_shep() == 1; ++k) qthread_yield();
        EXPECT_EQ(qthread_shep(), 0);
    };
    qthread_fork_to(&run_job, &body, &done, 1);
    while (!here) qthread_yield();
    qthread_disable_shepherd(1);
    go = true;
    qthread_readFF(nullptr, &done);
    qthread_enable_shepherd(1);
}

TEST(disabled, worker) {
    environment const chosen({{"QT_NUM_SHEPHERDS", "2"}, {"QT_NUM_WORKERS_PER_SHEPHERD", "2"}});
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_num_shepherds(), 2);
    EXPECT_EQ(qthread_num_workers(), 4);
    EXPECT_EQ(qthread_num_workers_local(0), 2);
    EXPECT_EQ(qthread_disable_worker(0), QTHREAD_NOT_ALLOWED);
    EXPECT_EQ(qthread_disable_worker(4), QTHREAD_BADARGS);
    ASSERT_EQ(qthread_disable_worker(3), QTHREAD_SUCCESS);
    wait_until_workers_stand_by(1);
    EXPECT_EQ(qthread_num_workers(), 3);
    for (int k = 0; k < 20; ++k)
        run(
            [] {
                qthread_shepherd_id_t s = 0;
                EXPECT_EQ(qthread_worker(&s), 1);
                EXPECT_EQ(s, 1);
                EXPECT_EQ(qthread_worker_local(nullptr), 0);
            },
            1);
    qthread_enable_worker(3);
    EXPECT_EQ(qthread_num_workers(), 4);
    qthread_finalize();
}

TEST(migrate, goes_there_and_stays) {
    library const running(3);
    run([] {
        for (qthread_shepherd_id_t s = 0; s < 9; ++s) {
            EXPECT_EQ(qthread_migrate_to(s % 3), QTHREAD_SUCCESS);
            EXPECT_EQ(qthread_shep(), s % 3);
            qthread_yield_near();
            EXPECT_EQ(qthread_shep(), s % 3);
        }
        EXPECT_EQ(qthread_migrate_to(3), QTHREAD_BADARGS);
        EXPECT_EQ(qthread_migrate_to(NO_SHEPHERD), QTHREAD_SUCCESS);
        qthread_reset_target_shep();
        qthread_flushsc();
    });
}

// --- the environment -----------------------------------------------------------------------------

void expect_shape(std::vector<std::pair<char const*, char const*>> variables, int shepherds,
                  int workers) {
    environment const chosen(std::move(variables));
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_num_shepherds(), shepherds);
    EXPECT_EQ(qthread_num_workers(), workers);
    qthread_finalize();
}

TEST(environment_variables, shape) {
    expect_shape({{"QTHREAD_NUM_SHEPHERDS", "2"}}, 2, 2);
    expect_shape({{"QT_NUM_SHEPHERDS", "3"}, {"QTHREAD_NUM_SHEPHERDS", "2"}}, 3, 3);
    expect_shape({{"QT_NUM_SHEPHERDS", ""}, {"QTHREAD_NUM_SHEPHERDS", "2"}}, 2, 2);
    expect_shape({{"QT_NUM_SHEPHERDS", "2"}, {"QT_NUM_WORKERS_PER_SHEPHERD", "3"}}, 2, 6);
    expect_shape({{"QT_HWPAR", "3"}}, 3, 3);
    expect_shape({{"QT_NUM_SHEPHERDS", "4"}, {"QT_HWPAR", "2"}}, 2, 2);
    expect_shape({{"QT_NUM_SHEPHERDS", "2"}, {"QT_HWPAR", "4"}}, 2, 4);
    expect_shape({{"QT_NUM_WORKERS_PER_SHEPHERD", "2"}, {"QT_HWPAR", "4"}}, 2, 4);
    expect_shape({{"QT_NUM_SHEPHERDS", "2"}, {"QT_HWPAR", "3"}}, 2, 3);
    environment const nothing({});
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    EXPECT_GE(qthread_num_shepherds(), 1);
    EXPECT_GE(qthread_num_workers(), qthread_num_shepherds());
    qthread_finalize();
}

TEST(environment_variables, init_of_none_leaves_them_alone) {
    environment const chosen{{{"QTHREAD_NUM_SHEPHERDS", "2"}}};
    ASSERT_EQ(qthread_init(0), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_num_shepherds(), 2);
    EXPECT_EQ(::getenv("QT_NUM_SHEPHERDS"), nullptr);
    qthread_finalize();
}

TEST(environment_variables, what_makes_no_sense_is_told_and_does_not_count) {
    testing::internal::CaptureStderr();
    expect_shape({{"QT_NUM_SHEPHERDS", "two"}, {"QT_HWPAR", "2"}, {"QT_INFO", "1"}}, 2, 2);
    std::string const told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("qthreads: NUM_SHEPHERDS: 'two' makes no sense"), std::string::npos)
        << told;
    EXPECT_NE(told.find("qthreads: 2 shepherds, 1 workers each"), std::string::npos) << told;
}

TEST(environment_variables, a_number_of_workers_that_does_not_divide) {
    environment const chosen{{{"QT_NUM_SHEPHERDS", "2"}, {"QT_HWPAR", "3"}}};
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_num_workers_local(1), 2);
    EXPECT_EQ(qthread_readstate(ACTIVE_WORKERS), 3U);
    EXPECT_EQ(qthread_readstate(TOTAL_WORKERS), 4U);
    // The fourth is there, and may be enabled.
    qthread_enable_worker(3);
    EXPECT_EQ(qthread_num_workers(), 4);
    ASSERT_EQ(qthread_disable_worker(3), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_num_workers(), 3);
    qthread_finalize();
}

TEST(environment_variables, numbers_that_nothing_can_have) {
    testing::internal::CaptureStderr();
    expect_shape({{"QT_NUM_SHEPHERDS", "-1"}, {"QT_HWPAR", "2"}}, 2, 2);
    expect_shape({{"QT_NUM_SHEPHERDS", "4294967296"},
                  {"QT_NUM_WORKERS_PER_SHEPHERD", "4294967296"},
                  {"QT_HWPAR", "2"}},
                 2, 2);
    expect_shape({{"QT_NUM_SHEPHERDS", "1"},
                  {"QT_STACK_SIZE", "18446744073709539328"},
                  {"QT_TASKLOCAL_SIZE", "99999999999999999999"},
                  {"QT_MAX_IO_WORKERS", "99999999999999999999"},
                  {"QT_IO_TIMEOUT", "99999999999999999999"}},
                 1, 1);
    std::string const told = testing::internal::GetCapturedStderr();
    for (char const* const text :
         {"NUM_SHEPHERDS: '-1' makes no sense", "NUM_SHEPHERDS is too large",
          "NUM_WORKERS_PER_SHEPHERD is too large", "STACK_SIZE is too large",
          "TASKLOCAL_SIZE is too large", "MAX_IO_WORKERS is too large", "IO_TIMEOUT is too large"})
        EXPECT_NE(told.find(text), std::string::npos) << text << " in:\n" << told;
}

TEST(environment_variables, stacks_and_local_memory) {
    environment const chosen(
        {{"QT_NUM_SHEPHERDS", "1"}, {"QT_STACK_SIZE", "1048576"}, {"QT_TASKLOCAL_SIZE", "1000"}});
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_readstate(STACK_SIZE), 1048576U);
    run([] {
        EXPECT_GE(static_cast<char*>(qthread_bos()) - static_cast<char*>(qthread_tos()), 1048576);
        EXPECT_EQ(qthread_size_tasklocal(), 1000U);
    });
    qthread_finalize();
}

// Tasking layers take it from the size of a stack that they are asked for.
TEST(environment_variables, a_stack_and_what_else_it_needs_make_a_power_of_two) {
    static constexpr std::size_t k_wanted = std::size_t{8} << 20U;
    std::string const rest = std::to_string(k_wanted - qthread_readstate(RUNTIME_DATA_SIZE));
    environment const chosen({{"QT_NUM_SHEPHERDS", "1"}, {"QT_STACK_SIZE", rest.c_str()}});
    ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
    run([] {
        auto const size = static_cast<char*>(qthread_bos()) - static_cast<char*>(qthread_tos());
        EXPECT_LE(static_cast<std::size_t>(size), k_wanted);
        EXPECT_GE(static_cast<std::size_t>(size), qthread_readstate(STACK_SIZE));
    });
    qthread_finalize();
}

aligned_t go_down(void* left) {
    auto const levels = reinterpret_cast<std::uintptr_t>(left);
    if (levels == 0) return 0;
    aligned_t result = 0, depth = 0;
    qthread_fork(&go_down, reinterpret_cast<void*>(levels - 1), &result);
    qthread_readFF(&depth, &result);
    return depth + 1;
}

// Tulle runs already. Who reads a result runs the qthread on its own stack only while that has
// room, so this takes more than one.
TEST(stacks, are_promised_where_others_have_started_tulle) {
    for (auto const& [native, promised] : std::vector<std::pair<std::size_t, std::size_t>>{
             {256 << 10, 32768}, {1 << 20, (1 << 20) - 8192}, {16 << 10, 8192}}) {
        tulle::initialize({2, native});
        ASSERT_EQ(qthread_initialize(), QTHREAD_SUCCESS);
        EXPECT_EQ(qthread_readstate(STACK_SIZE), promised);
        aligned_t result = 0, depth = 0;
        ASSERT_EQ(qthread_fork(&go_down, reinterpret_cast<void*>(5000), &result), QTHREAD_SUCCESS);
        qthread_readFF(&depth, &result);
        EXPECT_EQ(depth, 5000U);
        qthread_finalize();
        tulle::finalize();
    }
    tulle::set_option("workers", "auto");
    tulle::set_option("stack_size", "256K");
}

TEST(stacks, are_no_larger_than_the_option_says) {
    { library const forgets_what_other_tests_have_asked_for(1); }
    tulle::set_option("stack_size", "16K");
    {
        library const running(1);
        EXPECT_EQ(qthread_readstate(STACK_SIZE), 8192U);
        run([] {
            auto const size = static_cast<char*>(qthread_bos()) - static_cast<char*>(qthread_tos());
            EXPECT_LE(qthread_readstate(STACK_SIZE), static_cast<std::size_t>(size));
            EXPECT_LE(qthread_readstate(STACK_SIZE), qthread_stackleft());
        });
    }
    tulle::set_option("stack_size", "256K");
}

// --- memory of a qthread -------------------------------------------------------------------------

TEST(local_memory, is_its_own_and_grows) {
    library const running(2);
    auto const use = [] {
        EXPECT_EQ(qthread_size_tasklocal(), sizeof(void*));
        auto* const small = static_cast<unsigned*>(qthread_get_tasklocal(4));
        EXPECT_EQ(*small, 0U);
        *small = qthread_id();
        qthread_yield();
        auto* const large = static_cast<unsigned*>(qthread_get_tasklocal(4000));
        EXPECT_EQ(*large, qthread_id());
        EXPECT_EQ(qthread_size_tasklocal(), 4000U);
        large[999] = 7;
        EXPECT_EQ(qthread_get_tasklocal(8), large);
        EXPECT_EQ(static_cast<unsigned*>(qthread_get_tasklocal(8000))[999], 7U);
    };
    for (int k = 0; k < 10; ++k) run(use);
    use(); // the first qthread has its own, too
}

TEST(keys, have_values_for_each_qthread) {
    static std::atomic<int> s_destroyed;
    s_destroyed = 0; // also where the test is repeated
    library const running(2);
    qthread_key_t key{};
    ASSERT_EQ(qthread_key_create(&key, [](void*) { ++s_destroyed; }), QTHREAD_SUCCESS);
    for (int k = 0; k < 10; ++k)
        run([&] {
            EXPECT_EQ(qthread_getspecific(key), nullptr);
            EXPECT_EQ(qthread_setspecific(key, &key), QTHREAD_SUCCESS);
            qthread_yield();
            EXPECT_EQ(qthread_getspecific(key), &key);
        });
    while (s_destroyed != 10) qthread_yield();
    EXPECT_EQ(qthread_key_delete(key), QTHREAD_SUCCESS);
    EXPECT_EQ(qthread_key_delete(nullptr), QTHREAD_BADARGS);
}

// --- calls that block ----------------------------------------------------------------------------

struct pipe_ends {
    pipe_ends() { EXPECT_EQ(::pipe(ends), 0); }
    ~pipe_ends() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    pipe_ends(pipe_ends const&) = delete;
    pipe_ends& operator=(pipe_ends const&) = delete;
    int ends[2]{};
};

TEST(blocking, calls_block_the_caller_only) {
    library const running(1);
    pipe_ends const there, back;
    aligned_t done = 0;
    job echo = [&] {
        char text[8]{};
        EXPECT_EQ(qt_read(there.ends[0], text, sizeof text), 5);
        EXPECT_EQ(qt_write(back.ends[1], text, 5), 5);
    };
    qthread_fork(&run_job, &echo, &done);
    char text[8]{};
    run([] { qthread_yield(); }); // the only worker goes on meanwhile
    EXPECT_EQ(qt_write(there.ends[1], "hello", 5), 5);
    pollfd ready{back.ends[0], POLLIN, 0};
    EXPECT_EQ(qt_poll(&ready, 1, -1), 1);
    EXPECT_EQ(qt_read(back.ends[0], text, sizeof text), 5);
    EXPECT_STREQ(text, "hello");
    qthread_readFF(nullptr, &done);
}

TEST(blocking, many_calls_at_once_each_have_an_os_thread) {
    library const running(2);
    constexpr int k_calls = 8; // fewer than MAX_IO_WORKERS
    pipe_ends const there, back;
    job read = [&] {
        char c = 0;
        EXPECT_EQ(qt_read(there.ends[0], &c, 1), 1);
        EXPECT_EQ(qt_write(back.ends[1], &c, 1), 1);
    };
    aligned_t done[k_calls]{};
    for (int round = 0; round < 20; ++round) {
        for (aligned_t& d : done) qthread_fork(&run_job, &read, &d);
        char text[k_calls]{};
        for (int k = 0; k < k_calls; ++k) {
            EXPECT_EQ(qt_write(there.ends[1], "x", 1), 1);
            EXPECT_EQ(qt_read(back.ends[0], &text[k], 1), 1);
        }
        for (aligned_t& d : done) qthread_readFF(nullptr, &d);
    }
}

TEST(blocking, errors_are_those_of_the_calls) {
    library const running(1);
    char c = 0;
    errno = 0;
    EXPECT_EQ(qt_read(-1, &c, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(qt_accept(-1, nullptr, nullptr), -1);
    EXPECT_EQ(qt_connect(-1, nullptr, 0), -1);
    EXPECT_EQ(qt_pread(-1, &c, 1, 0), -1);
    EXPECT_EQ(qt_pwrite(-1, &c, 1, 0), -1);
    timeval no_time{0, 0};
    EXPECT_EQ(qt_select(0, nullptr, nullptr, nullptr, &no_time), 0);
}

TEST(blocking, commands_and_children) {
    library const running(1);
    EXPECT_EQ(WEXITSTATUS(qt_system("exit 3")), 3);
    pid_t const child = ::fork();
    if (child == 0) ::_exit(4);
    int status = 0;
    EXPECT_EQ(qt_wait4(child, &status, 0, nullptr), child);
    EXPECT_EQ(WEXITSTATUS(status), 4);
}

TEST(blocking, commands_have_the_signals_of_the_caller) {
    library const running(1);
    run([] {
        int const status = qt_system("kill -TERM $$");
        ASSERT_TRUE(WIFSIGNALED(status));
        EXPECT_EQ(WTERMSIG(status), SIGTERM);
    });
}

TEST(blocking, a_write_that_nobody_reads_raises_its_signal) {
    static std::atomic<int> s_raised;
    s_raised = 0; // also where the test is repeated
    auto* const before = std::signal(SIGPIPE, [](int) { ++s_raised; });
    {
        library const running(1);
        int ends[2]{};
        ASSERT_EQ(::pipe(ends), 0);
        ::close(ends[0]);
        run([&] {
            EXPECT_EQ(qt_write(ends[1], "x", 1), -1);
            EXPECT_EQ(errno, EPIPE);
            EXPECT_EQ(s_raised, 1);
            sigset_t pipe_only, others;
            sigemptyset(&pipe_only);
            sigaddset(&pipe_only, SIGPIPE);
            ::pthread_sigmask(SIG_BLOCK, &pipe_only, &others);
            EXPECT_EQ(qt_write(ends[1], "x", 1), -1);
            ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
            EXPECT_EQ(s_raised, 1);
        });
        ::close(ends[1]);
    }
    std::signal(SIGPIPE, before);
}

TEST(blocking, connections) {
    library const running(1);
    int const listener = ::socket(AF_INET, SOCK_STREAM, 0),
              caller = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener, generic, length), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, generic, &length), 0);
    aligned_t done = 0;
    job connect = [&] { EXPECT_EQ(qt_connect(caller, generic, length), 0); };
    qthread_fork(&run_job, &connect, &done);
    int const accepted = qt_accept(listener, nullptr, nullptr);
    EXPECT_GE(accepted, 0);
    qthread_readFF(nullptr, &done);
    for (int const descriptor : {listener, caller, accepted}) ::close(descriptor);
}

TEST(blocking, action_leaves_the_shepherd_to_others) {
    library const running(2);
    for (int round = 0; round < 3; ++round) {
        pipe_ends const p;
        aligned_t done = 0;
        std::atomic<bool> blocks{false};
        job blocked = [&] {
            qt_begin_blocking_action();
            EXPECT_EQ(qthread_shep(), NO_SHEPHERD);
            EXPECT_EQ(qthread_worker(nullptr), NO_WORKER);
            blocks = true;
            char c = 0;
            EXPECT_EQ(::read(p.ends[0], &c, 1), 1);
            qt_end_blocking_action();
            EXPECT_EQ(qthread_shep(), 1);
        };
        qthread_fork_to(&run_job, &blocked, &done, 1);
        while (!blocks) qthread_yield();
        run(
            [] { // although the only worker of the shepherd is blocked
                EXPECT_EQ(qthread_shep(), 1);
                EXPECT_EQ(qthread_worker(nullptr), 1);
            },
            1);
        EXPECT_EQ(qthread_num_workers(), 2);
        EXPECT_EQ(::write(p.ends[1], "x", 1), 1);
        qthread_readFF(nullptr, &done);
    }
}

// A worker that runs in place of one which blocks.
TEST(blocking, substitutes_have_no_number) {
    environment const chosen{{{"TULLE_MAX_SUBSTITUTES", "1"}}};
    tulle::set_option("max_substitutes", "1"); // which other tests have turned off
    library const running(1);
    run([] {
        pipe_ends const p;
        aligned_t done = 0;
        job writes = [&] {
            EXPECT_EQ(qthread_worker(nullptr), NO_WORKER);
            EXPECT_EQ(qthread_worker_unique(nullptr), NO_WORKER);
            EXPECT_EQ(qthread_worker_local(nullptr), NO_WORKER);
            EXPECT_EQ(qthread_readstate(CURRENT_UNIQUE_WORKER), NO_WORKER);
            EXPECT_EQ(::write(p.ends[1], "x", 1), 1);
        };
        qthread_fork(&run_job, &writes, &done);
        char c = 0;
        EXPECT_EQ(::read(p.ends[0], &c, 1), 1);
        qthread_readFF(nullptr, &done);
    });
}

TEST(blocking, nobody_runs_in_place_of_a_worker) {
    library const running(2);
    pipe_ends const p;
    std::atomic<bool> blocks{false};
    aligned_t first_done = 0, second_done = 0;
    job first = [&] {
        blocks = true;
        char c = 0;
        EXPECT_EQ(::read(p.ends[0], &c, 1), 1);
    };
    job second = [] { EXPECT_EQ(qthread_worker(nullptr), 1); };
    qthread_fork_to(&run_job, &first, &first_done, 1);
    while (!blocks) qthread_yield();
    qthread_fork_to(&run_job, &second, &second_done, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(30)); // time enough for a substitute
    EXPECT_EQ(qthread_feb_status(&second_done), 0);
    EXPECT_EQ(::write(p.ends[1], "x", 1), 1);
    qthread_readFF(nullptr, &first_done);
    qthread_readFF(nullptr, &second_done);
}

} // namespace
