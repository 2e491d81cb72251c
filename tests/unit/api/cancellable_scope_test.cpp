// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace {

using namespace std::chrono_literals;

TEST(cancellable_scope, joins_what_it_has_started) {
    std::atomic<int> done{0};
    {
        tulle::cancellable_scope scope;
        for (int k = 0; k < 20; ++k) scope.spawn([&done] { ++done; });
        scope.spawn([&done](tulle::cancellation_token const& token) {
            done += token.stop_requested() ? 100 : 1;
        });
    }
    EXPECT_EQ(done.load(), 21);
}

TEST(cancellable_scope, a_deadline_ends_its_waits) {
    tulle::latch never(1);
    std::atomic<int> started{0};
    std::atomic<int> ended{0};
    tulle::cancellable_scope scope;
    scope.request_stop_after(3ms);
    for (int k = 0; k < 10; ++k) {
        scope.spawn([&](tulle::cancellation_token const& token) {
            ++started;
            ended += never.wait(token) ? 0 : 1;
        });
    }
    scope.join(); // those that start too late do not start
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_EQ(ended.load(), started.load());
}

TEST(cancellable_scope, what_has_not_started_does_not_start) {
    std::atomic<int> done{0};
    tulle::cancellable_scope scope;
    scope.request_stop();
    for (int k = 0; k < 5; ++k) scope.spawn([&done] { ++done; });
    scope.join();
    EXPECT_EQ(done.load(), 0);
}

TEST(cancellable_scope, a_failure_ends_the_others) {
    tulle::latch never(1);
    auto const fail = [&never] {
        tulle::cancellable_scope scope;
        scope.spawn([&never](tulle::cancellation_token const& token) {
            static_cast<void>(never.wait(token));
        });
        scope.spawn([] { throw std::runtime_error("one fails"); });
        scope.join();
    };
    EXPECT_THROW(fail(), std::runtime_error);
}

TEST(cancellable_scope, an_exception_of_its_owner_ends_its_threads) {
    tulle::latch never(1);
    auto const fail = [&never] {
        tulle::cancellable_scope scope;
        scope.spawn([&never](tulle::cancellation_token const& token) {
            static_cast<void>(never.wait(token));
        });
        throw std::runtime_error("the owner fails");
    };
    EXPECT_THROW(fail(), std::runtime_error);
}

TEST(cancellable_scope, an_exception_of_its_owner_hides_those_of_its_threads) {
    tulle::latch never(1), started(1);
    auto const fail = [&] {
        tulle::cancellable_scope scope;
        scope.spawn([&](tulle::cancellation_token const& token) {
            started.count_down();
            static_cast<void>(never.wait(token));
            throw std::logic_error("cancelled");
        });
        started.wait();
        throw std::runtime_error("the owner fails");
    };
    EXPECT_THROW(fail(), std::runtime_error);
}

TEST(cancellable_scope, is_a_part_of_another) {
    tulle::latch never(1);
    std::atomic<int> ended{0};
    tulle::cancellable_scope outer;
    outer.spawn([&](tulle::cancellation_token const& token) {
        tulle::cancellable_scope inner(token);
        for (int k = 0; k < 3; ++k)
            inner.spawn(
                [&](tulle::cancellation_token const& t) { ended += never.wait(t) ? 0 : 1; });
        inner.join();
        ended += inner.stop_requested() ? 10 : 0;
    });
    auto stopper = tulle::spawn([&outer] {
        tulle::this_thread::sleep_for(2ms);
        outer.request_stop();
    });
    outer.join();
    stopper.join();
    EXPECT_TRUE(ended.load() <= 13 && (ended.load() == 0 || ended.load() >= 10)) << ended.load();
    EXPECT_TRUE(outer.stop_requested());
}

} // namespace
