// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_pause.hpp"
#include "emulated.hpp"
#include "expect_error.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle;

void use_everything() {
    ASSERT_EQ(fib(12), 144);
    auto a = spawn([] { return this_thread::get_id(); });
    auto b = spawn([] { this_thread::sleep_for(std::chrono::microseconds(50)); });
    attributes large;
    large.stack_size = std::size_t{1} << 20U;
    auto c = spawn(large, [] { this_thread::yield(); });
    c.join();
    b.join();
    ASSERT_NE(a.join(), 0U);
}

TEST(lifecycle, starts_and_stops_a_hundred_times) {
    for (int round = 0; round < 100; ++round) {
        initialize({.workers = 1 + round % 5});
        ASSERT_TRUE(is_initialized());
        ASSERT_EQ(worker_count(), 1 + round % 5);
        use_everything();
        finalize();
        ASSERT_FALSE(is_initialized());
    }
}

TEST(lifecycle, stops_at_once_after_it_started) {
    for (int round = 0; round < 200; ++round) {
        initialize({.workers = 1 + round % 4});
        finalize();
    }
}

// Threads that their joiner had run stayed in a queue, and were never freed.
TEST(lifecycle, threads_that_were_joined_before_they_were_dequeued_are_freed) {
    for (int round = 0; round < 20; ++round) {
        initialize({.workers = 1 + round % 2});
        std::vector<thread<void>> threads;
        for (int k = 0; k < 100; ++k) threads.push_back(spawn([] {}));
        for (auto it = threads.rbegin(); it != threads.rend(); ++it) it->join();
        finalize();
    }
}

TEST(lifecycle, first_use_starts_it) {
    EXPECT_FALSE(is_initialized());
    EXPECT_EQ(fib(10), 55);
    EXPECT_TRUE(is_initialized());
    EXPECT_EQ(this_thread::worker_index(), 0);
    finalize();
}

TEST(lifecycle, first_use_from_another_thread_than_main_starts_it) {
    std::thread([] {
        use_everything();
        EXPECT_TRUE(is_initialized());
        EXPECT_EQ(this_thread::worker_index(), -1);
    }).join();
    use_everything(); // main is a guest
    EXPECT_EQ(this_thread::worker_index(), -1);
    finalize();
}

TEST(lifecycle, forking_of_a_guest_that_has_outlived_it_starts_it) {
    std::thread(&use_everything).join();
    use_everything(); // main is a guest
    finalize();
    EXPECT_EQ(fib(10), 55);
    EXPECT_TRUE(is_initialized());
    EXPECT_EQ(this_thread::worker_index(), 0);
    finalize();
}

TEST(lifecycle, many_threads_use_it_first_at_the_same_time) {
    for (int round = 0; round < 20; ++round) {
        std::vector<std::thread> threads;
        for (int k = 0; k < 8; ++k) threads.emplace_back(use_everything);
        for (auto& t : threads) t.join();
        finalize();
    }
}

// It looks for a worker to wake while the one that it has woken ends them.
TEST(lifecycle, stops_while_a_foreign_thread_is_about_to_return_from_a_wake_up) {
    for (int round = 0; round < 200; ++round) {
        initialize({.workers = 2});
        one_shot event;
        std::atomic<bool> is_about_to_wait{false};
        std::thread foreign([&] {
            while (!is_about_to_wait.load()) {}
            for (int k = 0; k < round * 10; ++k) base::cpu_pause(); // while it begins to rest
            event.fire();
        });
        is_about_to_wait.store(true);
        event.wait();
        finalize();
        foreign.join();
    }
}

TEST(lifecycle, initializing_twice_is_refused) {
    initialize({.workers = 2});
    EXPECT_EQ(error_of([] { initialize({.workers = 3}); }), EALREADY);
    EXPECT_EQ(worker_count(), 2);
    finalize();
}

TEST(lifecycle, finalizing_what_does_not_run_is_refused) {
    EXPECT_EQ(error_of([] { finalize(); }), EINVAL);
}

TEST(lifecycle, absurd_options_are_refused) {
    EXPECT_EQ(error_of([] { initialize({.workers = -1}); }), EINVAL);
    EXPECT_EQ(error_of([] { initialize({.workers = 1'000'000}); }), EINVAL);
    EXPECT_EQ(error_of([] { initialize({.workers = 1, .stack_size = 7}); }), EINVAL);
    EXPECT_EQ(error_of([] { initialize({.workers = 1, .stack_size = std::size_t{1} << 60U}); }),
              EINVAL);
    EXPECT_FALSE(is_initialized());
}

TEST(lifecycle, options_are_set_by_name_before_the_start) {
    EXPECT_THROW(set_option("wrokers", "2"), std::invalid_argument);
    EXPECT_THROW(set_option("workers", "many"), std::invalid_argument);
    EXPECT_THROW(set_option("stack_size", "12Q"), std::invalid_argument);
    set_option("workers", "3");
    set_option("shepherds", "2");
    initialize();
    EXPECT_EQ(worker_count(), 3);
    EXPECT_EQ(shepherd_count(), 2);
    EXPECT_EQ(error_of([] { set_option("workers", "2"); }), EALREADY);
    finalize();
}

TEST(lifecycle, busy_while_a_thread_lives_then_stops) {
    initialize({.workers = 2});
    one_shot event;
    auto t = spawn([&event] { event.wait(); });
    EXPECT_EQ(error_of([] { finalize(); }), EBUSY);
    event.fire();
    t.join();
    finalize();
    EXPECT_FALSE(is_initialized());
}

TEST(lifecycle, busy_while_a_detached_thread_lives) {
    initialize({.workers = 1});
    one_shot event;
    spawn_detached([&event] { event.wait(); });
    EXPECT_EQ(error_of([] { finalize(); }), EBUSY);
    event.fire();
    while (error_of([] { finalize(); }) == EBUSY) this_thread::yield();
    EXPECT_FALSE(is_initialized());
}

TEST(lifecycle, busy_while_a_child_is_not_joined) {
    initialize({.workers = 1});
    auto child = fork([] { return 1; });
    EXPECT_EQ(error_of([] { finalize(); }), EBUSY);
    EXPECT_EQ(child.join(), 1);
    finalize();
}

TEST(lifecycle, only_the_thread_that_initialized_may_finalize) {
    initialize({.workers = 2});
    std::thread([] { EXPECT_EQ(error_of([] { finalize(); }), EPERM); }).join();
    attributes elsewhere; // a stack of its own: main will not run it in its own frame
    elsewhere.stack_size = std::size_t{1} << 20U;
    spawn(elsewhere, [] { EXPECT_EQ(error_of([] { finalize(); }), EPERM); }).join();
    spawn([] { EXPECT_NE(error_of([] { finalize(); }), 0); }).join();
    finalize();
}

TEST(lifecycle, worker_of_a_run_time_without_main_may_not_finalize) {
    std::thread([] {
        spawn([] { EXPECT_EQ(error_of([] { finalize(); }), EPERM); }).join();
    }).join();
    finalize();
}

TEST(lifecycle, more_shepherds_than_workers) {
    set_option("shepherds", "4");
    initialize({.workers = 2});
    EXPECT_LE(shepherd_count(), 2);
    use_everything();
    finalize();
    set_option("shepherds", "auto");
}

TEST(lifecycle, small_stacks_by_option) {
    initialize({.workers = 2, .stack_size = 64 << 10});
    use_everything();
    finalize();
}

TEST(lifecycle, what_was_refused_is_forgotten_and_what_was_taken_stays) {
    initialize();
    int const usual = worker_count();
    finalize();
    EXPECT_EQ(error_of([&] { initialize({.workers = usual + 1, .stack_size = 7}); }), EINVAL);
    EXPECT_EQ(worker_count(), usual); // starts it
    finalize();
    initialize({.workers = usual + 1});
    finalize();
    EXPECT_EQ(worker_count(), usual + 1);
    finalize();
}

// A process that ends with the run time in any state ends cleanly; a leak checker looks at it, too.
void exit_while(void (*state)()) {
    EXPECT_EXIT(
        {
            state();
            std::exit(0);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST(lifecycle_exit_test, with_idle_workers) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    exit_while([] {
        initialize({.workers = 4});
        use_everything();
    });
}

TEST(lifecycle_exit_test, with_threads_that_run) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    exit_while([] {
        initialize({.workers = 4});
        for (int k = 0; k < 20; ++k) {
            spawn_detached([] {
                for (;;) this_thread::yield();
            });
        }
        for (int k = 0; k < 100; ++k) this_thread::yield();
    });
}

TEST(lifecycle_exit_test, started_by_another_thread_than_main) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    exit_while([] { std::thread(use_everything).join(); });
}

#if !defined(TULLE_ANNOTATE_ADDRESS) &&                                                            \
    !defined(TULLE_ANNOTATE_THREAD) // they need the address space for themselves
void start_without_memory() {
    static_cast<void>(sched::scheduler::instance());
    rlimit const tight{std::size_t{64} << 20U, std::size_t{64} << 20U};
    setrlimit(RLIMIT_AS, &tight);
    int const error = error_of([] { initialize({.workers = 2000}); });
    std::_Exit(error == EAGAIN || error == ENOMEM ? 0 : 1);
}

TEST(lifecycle_exit_test, start_without_memory_is_an_error) {
    TULLE_SKIP_IF_EMULATED("it takes no limit of address space");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(start_without_memory(), ::testing::ExitedWithCode(0), "");
}

void first_use_without_memory() {
    static_cast<void>(sched::scheduler::instance());
    set_option("workers", "2000");
    rlimit const tight{std::size_t{64} << 20U, std::size_t{64} << 20U};
    setrlimit(RLIMIT_AS, &tight);
    static_cast<void>(worker_count());
}

TEST(lifecycle_death_test, first_use_without_memory_says_so) {
    TULLE_SKIP_IF_EMULATED("it takes no limit of address space");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(first_use_without_memory(), "tulle: cannot start: ");
}
#endif

} // namespace
