// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include <tulle.h>

namespace {

using namespace tulle;

std::string refusal() {
    try {
        finalize();
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code().value(), EBUSY);
        return e.what();
    }
    return "finalized";
}

bool contains(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

TEST(live_threads, finalize_lists_threads_with_number_name_and_place) {
    initialize({.workers = 2});
    one_shot event;
    std::atomic<int> started{0};
    std::atomic<bool> stop{false};
    attributes named;
    named.name = "waiter";
    auto waits = spawn(named, [&] {
        started.fetch_add(1, std::memory_order_relaxed);
        event.wait();
    });
    auto computes = spawn([&] {
        started.fetch_add(1, std::memory_order_relaxed);
        compute_until(stop);
    });
    // Not waiting: main's worker must not run them.
    while (started.load(std::memory_order_relaxed) != 2) detail::cpu_pause();
    std::string const text = refusal();
    EXPECT_TRUE(contains(text, "tulle::finalize: 2 threads are alive: ")) << text;
    EXPECT_TRUE(
        contains(text, "thread " + std::to_string(waits.get_id()) + " 'waiter' waits or is ready"))
        << text;
    EXPECT_TRUE(contains(text, "thread " + std::to_string(computes.get_id()) + " on worker "))
        << text;
    event.fire();
    stop.store(true, std::memory_order_release);
    waits.join();
    computes.join();
    finalize();
}

TEST(live_threads, many_are_counted_and_a_few_listed) {
    initialize({.workers = 1});
    latch go(1);
    std::vector<thread<void>> threads;
    for (int k = 0; k < 100; ++k) threads.push_back(spawn([&go] { go.wait(); }));
    for (int k = 0; k < 500; ++k) this_thread::yield();
    threads.push_back(spawn([] {}));
    std::string const text = live_threads();
    EXPECT_TRUE(contains(text, "101 threads are alive: thread ")) << text;
    EXPECT_TRUE(contains(text, "; 84 threads more; 1 thread has not started")) << text;
    go.count_down();
    for (auto& t : threads) t.join();
    finalize();
}

TEST(live_threads, none) {
    EXPECT_EQ(live_threads(), "no threads are alive");
    initialize({.workers = 1});
    auto child = fork([] { return 1; });
    EXPECT_TRUE(contains(refusal(), "forked children that it has not joined"));
    EXPECT_EQ(child.join(), 1);
    finalize();
}

TEST(live_threads, of_c) {
    char small[8], large[200];
    EXPECT_EQ(tulle_live_threads(nullptr, 8), -EINVAL);
    EXPECT_EQ(tulle_live_threads(small, 0), -EINVAL);
    EXPECT_EQ(tulle_live_threads(large, sizeof large), 20);
    EXPECT_STREQ(large, "no threads are alive");
    EXPECT_EQ(tulle_live_threads(small, sizeof small), 20);
    EXPECT_STREQ(small, "no thre");
}

} // namespace
