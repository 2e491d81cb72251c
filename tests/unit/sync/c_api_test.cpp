// SPDX-License-Identifier: Apache-2.0
#include <tulle/c/sync.h>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t k_ms = 1'000'000;

tulle_mutex_t g_mutex = TULLE_MUTEX_INIT;
tulle_cond_t g_cond = TULLE_COND_INIT;
tulle_latch_t g_latch = TULLE_LATCH_INIT(2);
tulle_barrier_t g_barrier = TULLE_BARRIER_INIT(2);
tulle_signal_t g_signal = TULLE_SIGNAL_INIT(1);
tulle_once_t g_once = TULLE_ONCE_INIT;

template <class F> auto elsewhere(F f) { return tulle::spawn(f).join(); }

TEST(c_api, mutex) {
    EXPECT_EQ(tulle_mutex_unlock(&g_mutex), -EPERM);
    EXPECT_EQ(tulle_mutex_lock(&g_mutex), 0);
    EXPECT_EQ(elsewhere([] { return tulle_mutex_trylock(&g_mutex); }), -EBUSY);
    EXPECT_EQ(elsewhere([] { return tulle_mutex_timedlock(&g_mutex, 0); }), -ETIMEDOUT);
    EXPECT_EQ(elsewhere([] { return tulle_mutex_timedlock(&g_mutex, 2 * k_ms); }), -ETIMEDOUT);
    EXPECT_EQ(tulle_mutex_destroy(&g_mutex), -EBUSY);
    EXPECT_EQ(tulle_mutex_unlock(&g_mutex), 0);
    EXPECT_EQ(tulle_mutex_timedlock(&g_mutex, TULLE_FOREVER), 0);
    EXPECT_EQ(tulle_mutex_unlock(&g_mutex), 0);
    EXPECT_EQ(tulle_mutex_destroy(&g_mutex), 0);
}

TEST(c_api, mutex_excludes) {
    tulle_mutex_t m;
    ASSERT_EQ(tulle_mutex_init(&m), 0);
    long value = 0;
    auto const add = [&] {
        for (int i = 0; i < 5000; ++i) {
            tulle_mutex_lock(&m);
            ++value;
            tulle_mutex_unlock(&m);
        }
    };
    std::vector<tulle::thread<void>> threads;
    for (int i = 0; i < 4; ++i) threads.push_back(tulle::spawn(add));
    std::thread(add).join();
    for (auto& t : threads) t.join();
    EXPECT_EQ(value, 25000);
}

TEST(c_api, condition) {
    EXPECT_EQ(tulle_cond_wait(&g_cond, &g_mutex), -EPERM);
    EXPECT_EQ(tulle_mutex_lock(&g_mutex), 0);
    EXPECT_EQ(tulle_cond_timedwait(&g_cond, &g_mutex, 0), -ETIMEDOUT);
    EXPECT_EQ(tulle_cond_timedwait(&g_cond, &g_mutex, k_ms), -ETIMEDOUT);
    bool ready = false;
    auto waiter = tulle::spawn([&] {
        tulle_mutex_lock(&g_mutex);
        while (!ready) tulle_cond_wait(&g_cond, &g_mutex);
        return tulle_mutex_unlock(&g_mutex);
    });
    EXPECT_FALSE(waiter.join_for(1ms));
    ready = true;
    EXPECT_EQ(tulle_cond_signal(&g_cond), 0);
    EXPECT_EQ(tulle_cond_broadcast(&g_cond), 0);
    EXPECT_EQ(tulle_mutex_unlock(&g_mutex), 0);
    EXPECT_EQ(waiter.join(), 0);
    EXPECT_EQ(tulle_cond_destroy(&g_cond), 0);
}

TEST(c_api, latch) {
    EXPECT_EQ(tulle_latch_trywait(&g_latch), -EBUSY);
    EXPECT_EQ(tulle_latch_destroy(&g_latch), -EBUSY);
    EXPECT_EQ(tulle_latch_count_down(&g_latch, 3), -EINVAL);
    EXPECT_EQ(tulle_latch_count_down(&g_latch, UINT64_MAX), -EINVAL);
    EXPECT_EQ(tulle_latch_timedwait(&g_latch, 0), -ETIMEDOUT);
    EXPECT_EQ(tulle_latch_timedwait(&g_latch, k_ms), -ETIMEDOUT);
    auto waiter = tulle::spawn([] { return tulle_latch_wait(&g_latch); });
    EXPECT_EQ(tulle_latch_count_down(&g_latch, 1), 0);
    EXPECT_EQ(tulle_latch_arrive_and_wait(&g_latch, 1), 0);
    EXPECT_EQ(waiter.join(), 0);
    EXPECT_EQ(tulle_latch_destroy(&g_latch), 0);
    tulle_latch_t too_large;
    EXPECT_EQ(tulle_latch_init(&too_large, UINT64_MAX), -EINVAL);
}

TEST(c_api, barrier) {
    EXPECT_EQ(tulle_barrier_trywait(&g_barrier), -EBUSY);
    EXPECT_EQ(tulle_barrier_timedwait(&g_barrier, k_ms), -ETIMEDOUT);
    auto other = tulle::spawn([] { return tulle_barrier_wait(&g_barrier); });
    EXPECT_EQ(tulle_barrier_timedwait(&g_barrier, TULLE_FOREVER), 0);
    EXPECT_EQ(other.join(), 0);
    EXPECT_EQ(tulle_barrier_destroy(&g_barrier), 0);
    tulle_barrier_t empty = TULLE_BARRIER_INIT(0);
    EXPECT_EQ(tulle_barrier_init(&empty, 0), -EINVAL);
    EXPECT_EQ(tulle_barrier_wait(&empty), -EINVAL);
}

TEST(c_api, signal) {
    EXPECT_EQ(tulle_signal_trywait(&g_signal), -EBUSY);
    EXPECT_EQ(tulle_signal_timedwait(&g_signal, 0), -ETIMEDOUT);
    EXPECT_EQ(tulle_signal_timedwait(&g_signal, k_ms), -ETIMEDOUT);
    auto first = tulle::spawn([] { return tulle_signal_wait(&g_signal); });
    // It waits.
    while (tulle_signal_destroy(&g_signal) != -EBUSY) tulle::this_thread::sleep_for(100us);
    EXPECT_EQ(tulle_signal_wait(&g_signal), -EBUSY);
    EXPECT_EQ(tulle_signal_timedwait(&g_signal, k_ms), -EBUSY);
    EXPECT_EQ(tulle_signal_add_signalers(&g_signal, UINT32_MAX), -EINVAL);
    EXPECT_EQ(tulle_signal_notify(&g_signal), 0);
    EXPECT_EQ(first.join(), 0);
    EXPECT_EQ(tulle_signal_notify(&g_signal), -EPERM);
    EXPECT_EQ(tulle_signal_destroy(&g_signal), 0);
}

TEST(c_api, once) {
    int calls = 0;
    auto const count = [](void* of) { ++*static_cast<int*>(of); };
    auto const fail = [](void*) { throw 1; };
    EXPECT_EQ(tulle_once(&g_once, fail, nullptr), -ECANCELED);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(tulle_once(&g_once, count, &calls), 0);
    EXPECT_EQ(calls, 1);
}

TEST(c_api, null_pointers_are_errors) {
    EXPECT_EQ(tulle_mutex_init(nullptr), -EINVAL);
    EXPECT_EQ(tulle_mutex_lock(nullptr), -EINVAL);
    EXPECT_EQ(tulle_mutex_trylock(nullptr), -EINVAL);
    EXPECT_EQ(tulle_mutex_timedlock(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_mutex_unlock(nullptr), -EINVAL);
    EXPECT_EQ(tulle_mutex_destroy(nullptr), -EINVAL);
    EXPECT_EQ(tulle_cond_init(nullptr), -EINVAL);
    EXPECT_EQ(tulle_cond_wait(nullptr, &g_mutex), -EINVAL);
    EXPECT_EQ(tulle_cond_wait(&g_cond, nullptr), -EINVAL);
    EXPECT_EQ(tulle_cond_timedwait(nullptr, nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_cond_signal(nullptr), -EINVAL);
    EXPECT_EQ(tulle_cond_broadcast(nullptr), -EINVAL);
    EXPECT_EQ(tulle_cond_destroy(nullptr), -EINVAL);
    EXPECT_EQ(tulle_latch_init(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_latch_arrive_and_wait(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_latch_timedwait(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_latch_trywait(nullptr), -EINVAL);
    EXPECT_EQ(tulle_barrier_init(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_barrier_wait(nullptr), -EINVAL);
    EXPECT_EQ(tulle_barrier_trywait(nullptr), -EINVAL);
    EXPECT_EQ(tulle_barrier_timedwait(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_signal_init(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_signal_notify(nullptr), -EINVAL);
    EXPECT_EQ(tulle_signal_wait(nullptr), -EINVAL);
    EXPECT_EQ(tulle_signal_timedwait(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_once(
                  nullptr, [](void*) {}, nullptr),
              -EINVAL);
    EXPECT_EQ(tulle_once(&g_once, nullptr, nullptr), -EINVAL);
}

} // namespace
