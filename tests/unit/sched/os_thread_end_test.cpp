// SPDX-License-Identifier: Apache-2.0
// OS threads that end while they are registered, and threads that try to end their OS thread.
#include "runtime_fixture.hpp"

#include "arch/fiber_annotations.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <tulle.h>
#include <unistd.h>

namespace {

using namespace tulle;

class os_thread_end_death_test : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void on_own_stack(void (*action)()) {
    initialize({.workers = 2});
    auto t = spawn([action] {
        this_thread::sleep_for(std::chrono::microseconds(10));
        action();
    });
    while (!t.try_join()) this_thread::sleep_for(std::chrono::microseconds(50));
}
void in_a_stolen_child(void (*action)()) {
    initialize({.workers = 2});
    std::atomic<bool> never{false};
    auto child = fork([action] { action(); });
    compute_until(never);
    child.join();
}
void in_a_stolen_child_of_a_scope(void (*action)()) {
    initialize({.workers = 2});
    std::atomic<bool> never{false};
    scope s;
    s.spawn([action] { action(); });
    compute_until(never);
}
void in_a_stolen_child_of_c(void (*action)()) {
    initialize({.workers = 2});
    std::atomic<bool> never{false};
    tulle_child const child = tulle_fork([](void* p) { reinterpret_cast<void (*)()>(p)(); },
                                         reinterpret_cast<void*>(action));
    compute_until(never);
    tulle_join(child);
}

void leave() { pthread_exit(nullptr); }
void be_cancelled() {
    pthread_cancel(pthread_self());
    for (;;) pthread_testcancel();
}

constexpr char const* k_message =
    "tulle: a thread called pthread_exit, or its OS thread was cancelled";

TEST_F(os_thread_end_death_test, pthread_exit_in_a_thread_is_an_error) {
#if defined(TULLE_ANNOTATE_THREAD)
    GTEST_SKIP() << "ThreadSanitizer has its own error for it";
#endif
    EXPECT_DEATH(on_own_stack(&leave), k_message);
    EXPECT_DEATH(in_a_stolen_child(&leave), k_message);
    EXPECT_DEATH(in_a_stolen_child_of_a_scope(&leave), k_message);
    EXPECT_DEATH(in_a_stolen_child_of_c(&leave), k_message);
}

TEST_F(os_thread_end_death_test, cancelling_a_thread_is_an_error) {
#if defined(TULLE_ANNOTATE_ADDRESS)
    GTEST_SKIP() << "AddressSanitizer takes frames that a cancellation has left, and that nothing "
                    "was inlined into, for those that stand";
#endif
    EXPECT_DEATH(on_own_stack(&be_cancelled), k_message);
    EXPECT_DEATH(in_a_stolen_child(&be_cancelled), k_message);
    EXPECT_DEATH(spawn_detached(&be_cancelled); for (;;) this_thread::yield(), k_message);
}

TEST_F(os_thread_end_death_test, the_os_thread_that_initialized_must_finalize) {
    EXPECT_DEATH(std::thread([] { initialize({.workers = 2}); }).join(),
                 "tulle: the OS thread that initialized the run time ends without tulle::finalize");
}

TEST_F(os_thread_end_death_test, a_foreign_thread_that_ends_with_children_is_an_error) {
    EXPECT_DEATH(std::thread([] {
                     tulle_child const child = tulle_fork([](void*) {}, nullptr);
                     static_cast<void>(child);
                 }).join(),
                 "tulle: an OS thread ends with forked threads that it has not joined");
}

TEST(os_thread_end, a_thread_that_finalized_may_end_in_any_way) {
    pthread_t t{};
    ASSERT_EQ(pthread_create(
                  &t, nullptr,
                  [](void*) -> void* {
                      initialize({.workers = 2});
                      finalize();
                      pthread_exit(nullptr);
                  },
                  nullptr),
              0);
    pthread_join(t, nullptr);
    EXPECT_FALSE(is_initialized());
}

TEST(os_thread_end, guests_may_end_by_pthread_exit_or_be_cancelled) {
    initialize({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        pthread_t t{};
        bool cancel = round % 2 == 0;
        ASSERT_EQ(pthread_create(
                      &t, nullptr,
                      [](void* p) -> void* {
                          auto child = fork([] { return 1; });
                          static_cast<void>(child.join());
                          if (!*static_cast<bool*>(p)) pthread_exit(nullptr);
                          for (;;) {
                              pthread_testcancel();
                              usleep(10);
                          }
                      },
                      &cancel),
                  0);
        if (cancel) pthread_cancel(t);
        pthread_join(t, nullptr);
    }
    finalize();
}

// The run time's own hook comes after the destructors of thread-local objects.
struct uses_at_end {
    ~uses_at_end() {
        auto child = fork([] { return 5; });
        *result = child.join() + spawn([] { return 6; }).join();
    }
    int* result = nullptr;
};

TEST(os_thread_end, destructors_of_thread_local_objects_may_use_it) {
    set_option("workers", "2");
    for (bool before : {true, false}) {
        int result = 0;
        std::thread([&result, before] {
            static thread_local uses_at_end early;
            if (before) early.result = &result;
            auto child = fork([] {});
            child.join();
            static thread_local uses_at_end late;
            late.result = &result;
            early.result = &result;
        }).join();
        EXPECT_EQ(result, 11);
    }
    finalize();
}

struct forks_at_end {
    ~forks_at_end() {
        if (result == nullptr) return;
        auto child = fork([] { return 5; });
        mutex m;
        std::lock_guard const held(m);
        *result = child.join() + (this_thread::get_id() != 0 ? 1 : 0);
    }
    int* result = nullptr;
};

// finalize() waited for the worker's OS thread, and that one for finalize().
TEST(os_thread_end, destructors_of_thread_local_objects_of_workers_may_use_it) {
    for (int k = 0; k < 3; ++k) {
        initialize({.workers = 2});
        int result = 0;
        std::atomic<bool> began{false};
        auto child = fork([&] {
            static thread_local forks_at_end at_end;
            at_end.result = &result;
            began = true;
        });
        compute_until(began);
        child.join();
        finalize();
        EXPECT_EQ(result, 6);
    }
}

TEST(os_thread_end, threads_that_a_foreign_thread_has_made_live_on) {
    initialize({.workers = 2});
    thread<int> left;
    std::thread([&left] {
        left = spawn([] {
            this_thread::sleep_for(std::chrono::milliseconds(1));
            return 7;
        });
    }).join();
    EXPECT_EQ(left.join(), 7);
    finalize();
}

} // namespace
