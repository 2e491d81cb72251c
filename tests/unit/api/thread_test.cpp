// SPDX-License-Identifier: Apache-2.0
#include "expect_error.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

class thread_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override { tulle::initialize({.workers = GetParam()}); }
    void TearDown() override { tulle::finalize(); }
};
INSTANTIATE_TEST_SUITE_P(workers, thread_test, ::testing::Values(1, 2, 4));

struct counter {
    int value = 0;
    int add(int n) { return value += n; }
};

TEST_P(thread_test, arguments_as_of_std_thread) {
    counter c;
    EXPECT_EQ(tulle::spawn(&counter::add, &c, 3).join(), 3);
    EXPECT_EQ(tulle::spawn(&counter::add, std::ref(c), 4).join(), 7);
    int written = 0;
    tulle::spawn([](int& to, int what) { to = what; }, std::ref(written), 9).join();
    EXPECT_EQ(written, 9);
}

TEST_P(thread_test, default_handle_owns_nothing) {
    tulle::thread<int> t;
    EXPECT_FALSE(t.joinable());
    expect_system_error([&t] { static_cast<void>(t.join()); }, EINVAL,
                        "tulle::thread: not joinable");
    EXPECT_THROW(static_cast<void>(t.try_join()), std::system_error);
    EXPECT_THROW(static_cast<void>(t.join_for(1s)), std::system_error);
    EXPECT_THROW(t.detach(), std::system_error);
}

TEST_P(thread_test, handle_that_is_destroyed_joins) {
    std::atomic<bool> ran{false};
    {
        auto const t = tulle::spawn([&ran] {
            tulle::this_thread::yield();
            ran = true;
        });
    }
    EXPECT_TRUE(ran);
}

TEST_P(thread_test, handles_change_hands_between_threads) {
    auto inner = tulle::spawn([] { return std::string("result"); });
    auto outer = tulle::spawn([t = std::move(inner)]() mutable { return t.join(); });
    EXPECT_EQ(outer.join(), "result");
}

TEST_P(thread_test, result_that_nobody_takes_is_destroyed) {
    auto const shared = std::make_shared<int>(1);
    tulle::spawn([shared] { return shared; }).detach();
    {
        auto const dropped = tulle::spawn([shared] { return shared; });
    }
    while (shared.use_count() != 1) tulle::this_thread::yield();
    for (bool busy = true; busy;) { // the detached one may still be on its way out
        try {
            tulle::finalize();
            busy = false;
        } catch (std::system_error const&) {
            tulle::this_thread::yield();
        }
    }
    tulle::initialize({.workers = GetParam()});
}

TEST_P(thread_test, try_join_says_when_join_will_not_wait) {
    auto t = tulle::spawn([] { return 1; });
    while (!t.try_join()) tulle::this_thread::yield();
    EXPECT_EQ(t.join(), 1);
}

TEST_P(thread_test, exception_is_thrown_once_with_its_type) {
    struct special : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    auto t = tulle::spawn([]() -> int { throw special("thrown inside"); });
    try {
        static_cast<void>(t.join());
        FAIL() << "nothing was thrown";
    } catch (special const& e) {
        EXPECT_STREQ(e.what(), "thrown inside");
    }
    EXPECT_THROW(static_cast<void>(t.join()), std::system_error);
}

TEST_P(thread_test, very_many_threads_at_once) {
    std::atomic<int> ran{0};
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 20000; ++k) threads.push_back(tulle::spawn([&ran] { ran.fetch_add(1); }));
    for (auto& t : threads) t.join();
    EXPECT_EQ(ran, 20000);
}

void drop_a_handle_with_an_exception() {
    tulle::initialize({.workers = 1});
    auto const t = tulle::spawn([] { throw 1; });
}

TEST(thread_death_test, handle_with_an_exception_is_dropped) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(drop_a_handle_with_an_exception(), "terminate called");
}

} // namespace
