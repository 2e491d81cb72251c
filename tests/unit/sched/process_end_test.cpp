// SPDX-License-Identifier: Apache-2.0
// A process ends, by whatever call of whatever thread, whatever its threads do, and its static
// objects may use the run time.
#include "base/sanitize.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"
#include "sched/scheduler.hpp"

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#if defined(TULLE_ANNOTATE_ADDRESS)
// When a thread exits while main waits, the leak checker does not look at main's stack.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

namespace {

using namespace tulle;

constexpr int k_status = 3;

// Threads that run, wait and sleep, for ever.
void make_threads() {
    initialize({.workers = 3});
    for (int k = 0; k < 5; ++k) {
        spawn_detached([] {
            for (;;) this_thread::yield();
        });
        spawn_detached([] {
            latch never(1);
            never.wait();
        });
        spawn_detached([] {
            for (;;) this_thread::sleep_for(std::chrono::microseconds(100));
        });
    }
    for (int k = 0; k < 200; ++k) this_thread::yield();
}

struct caller {
    char const* name;
    void (*from)(std::function<void()> const& call);
};

void from_main(std::function<void()> const& call) { call(); }
void from_a_thread(std::function<void()> const& call) {
    auto t = spawn([&call] {
        this_thread::sleep_for(std::chrono::microseconds(10));
        call();
    });
    while (!t.try_join()) this_thread::sleep_for(std::chrono::microseconds(50));
}
// One whose worker is not the OS thread of main.
void from_another_worker(std::function<void()> const& call) {
    std::atomic<bool> never{false};
    auto t = spawn([&call] {
        while (this_thread::worker_index() == 0) this_thread::yield();
        call();
    });
    this_thread::yield();
    compute_until(never);
}
void from_a_stolen_child(std::function<void()> const& call) {
    std::atomic<bool> never{false};
    auto child = fork([&call] { call(); });
    compute_until(never);
    child.join();
}
void from_a_foreign_thread(std::function<void()> const& call) {
    std::thread([&call] { call(); }).join();
}
void from_a_guest(std::function<void()> const& call) {
    std::thread([&call] {
        static_cast<void>(fib(5));
        call();
    }).join();
}

void PrintTo(caller const& c, std::ostream* out) { *out << c.name; }

class process_end : public ::testing::TestWithParam<caller> {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void end_by(caller const& by, std::function<void()> const& call) {
    make_threads();
    by.from(call);
    std::_Exit(99);
}

TEST_P(process_end, by_exit) {
    EXPECT_EXIT(end_by(GetParam(), [] { std::exit(k_status); }),
                ::testing::ExitedWithCode(k_status), "");
}
TEST_P(process_end, by_quick_exit) {
    EXPECT_EXIT(end_by(GetParam(), [] { std::quick_exit(k_status); }),
                ::testing::ExitedWithCode(k_status), "");
}
TEST_P(process_end, by_abort) {
    EXPECT_EXIT(end_by(GetParam(), [] { std::abort(); }), ::testing::KilledBySignal(SIGABRT), "");
}
TEST_P(process_end, by_exec) {
    EXPECT_EXIT(end_by(GetParam(), [] { execl("/bin/sh", "sh", "-c", "exit 3", nullptr); }),
                ::testing::ExitedWithCode(k_status), "");
}
TEST_P(process_end, not_by_a_program_that_it_runs) {
    EXPECT_EXIT(end_by(GetParam(), [] { std::_Exit(WEXITSTATUS(std::system("exit 3"))); }),
                ::testing::ExitedWithCode(k_status), "");
}

// --- OS threads of workers that are not wanted end after a second --------------------------------

bool has_ended(int index) {
    auto const& workers = sched::scheduler::instance().workers();
    return workers[static_cast<std::size_t>(index)]->has_ended.load(std::memory_order_relaxed);
}

// It is registered before the run time starts, so that it comes after what that does at the end.
void check_that_none_has_ended() {
    // Longer than a worker that is not wanted keeps its OS thread.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    for (int index = 0; index < 4; ++index)
        if (has_ended(index)) std::_Exit(97);
}

// Without a watcher nobody joins them before.
void end_with_os_threads_that_have_ended() {
    if (std::atexit(&check_that_none_has_ended) != 0) std::_Exit(96);
    set_option("max_substitutes", "off");
    initialize({.workers = 4});
    set_worker_count(3);
    for (int tries = 0; tries < 20'000 && !has_ended(3); ++tries)
        this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!has_ended(3)) std::_Exit(95);
    set_worker_count(2);
    std::exit(k_status);
}

TEST(process_end_of_workers, ended_os_threads_are_joined_and_no_other_ends) {
    if (!base::k_thread_sanitizer) GTEST_SKIP() << "nobody but the thread sanitizer asks for it";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(end_with_os_threads_that_have_ended(), ::testing::ExitedWithCode(k_status), "");
}

struct uses_at_exit {
    ~uses_at_exit() {
        mutex m;
        int count = 0;
        std::vector<thread<void>> threads;
        for (int k = 0; k < 20; ++k) {
            threads.push_back(spawn([&] {
                this_thread::sleep_for(std::chrono::microseconds(10));
                std::lock_guard const held(m);
                ++count;
            }));
        }
        for (auto& t : threads) t.join();
        if (fib(12) != 144 || count != 20) std::_Exit(98);
    }
};

TEST_P(process_end, static_objects_may_use_it) {
    EXPECT_EXIT(end_by(GetParam(),
                       [] {
                           static uses_at_exit const user;
                           std::exit(k_status);
                       }),
                ::testing::ExitedWithCode(k_status), "");
}

INSTANTIATE_TEST_SUITE_P(by, process_end,
                         ::testing::Values(caller{"main", &from_main},
                                           caller{"a_thread", &from_a_thread},
                                           caller{"another_worker", &from_another_worker},
                                           caller{"a_stolen_child", &from_a_stolen_child},
                                           caller{"a_foreign_thread", &from_a_foreign_thread},
                                           caller{"a_guest", &from_a_guest}),
                         [](auto const& test) { return std::string(test.param.name); });

struct finalizes_at_exit {
    int expected;
    ~finalizes_at_exit() {
        int error = 0;
        try {
            finalize();
        } catch (std::system_error const& e) {
            error = e.code().value();
        }
        if (error != expected) std::_Exit(97);
    }
};

class process_end_static : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(process_end_static, an_object_may_finalize_and_use_it_again) {
    EXPECT_EXIT(
        {
            static finalizes_at_exit const last{0};
            static uses_at_exit const user;
            static finalizes_at_exit const first{0};
            initialize({.workers = 3});
            static_cast<void>(fib(10));
            std::exit(k_status);
        },
        ::testing::ExitedWithCode(k_status), "");
}

TEST_F(process_end_static, finalizing_at_an_exit_by_another_thread_is_refused) {
    EXPECT_EXIT(
        {
            static finalizes_at_exit const last{EPERM};
            initialize({.workers = 3});
            from_another_worker([] { std::exit(k_status); });
        },
        ::testing::ExitedWithCode(k_status), "");
}

// The first use is in a static object's destructor.
TEST_F(process_end_static, an_object_may_be_the_first_user) {
    EXPECT_EXIT(
        {
            static uses_at_exit const user;
            std::exit(k_status);
        },
        ::testing::ExitedWithCode(k_status), "");
}

} // namespace
