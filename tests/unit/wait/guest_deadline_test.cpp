// SPDX-License-Identifier: Apache-2.0
// Timed waits of an OS thread that the library has not made end in time whatever the workers do: they
// compute, or sit in the kernel.
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tulle {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto k_limit = 20ms;
constexpr auto k_busy = 2s;     // what the workers compute at most
constexpr auto k_too_late = 1s; // between the two: the wait ended by itself

// Every worker computes until the guests are done.
class busy_workers {
public:
    busy_workers() {
        for (int k = 0; k < worker_count(); ++k)
            m_threads.push_back(spawn([this] {
                m_started.fetch_add(1);
                auto const end = clock::now() + k_busy;
                while (!m_done.load() && clock::now() < end) {}
            }));
    }
    // By an OS thread of the test.
    void await_start() const {
        while (m_started.load() < worker_count()) std::this_thread::sleep_for(1ms);
    }
    void join() {
        for (auto& t : m_threads) t.join();
    }
    void release() { m_done.store(true); }

private:
    std::atomic<int> m_started{0};
    std::atomic<bool> m_done{false};
    std::vector<thread<void>> m_threads;
};

// Runs the wait in an OS thread of its own and says how long it took.
clock::duration time_beside_busy_workers(std::function<void()> const& wait) {
    if (is_initialized()) finalize();
    set_option("max_substitutes", "off"); // nobody helps
    initialize();
    busy_workers workers;
    clock::duration took{};
    std::thread guest([&] {
        workers.await_start();
        auto const begin = clock::now();
        wait();
        took = clock::now() - begin;
        workers.release();
    });
    workers.join();
    guest.join();
    finalize();
    set_option("max_substitutes", "64");
    return took;
}

void expect_in_time(std::function<void()> const& wait) {
    auto const took = time_beside_busy_workers(wait);
    EXPECT_GE(took, k_limit);
    EXPECT_LT(took, k_too_late);
}

TEST(guest_deadline, latch) {
    expect_in_time([] {
        latch never(1);
        EXPECT_FALSE(never.wait_for(k_limit));
    });
}

TEST(guest_deadline, semaphore) {
    expect_in_time([] {
        counting_semaphore<> none(0);
        EXPECT_FALSE(none.try_acquire_for(k_limit));
    });
}

TEST(guest_deadline, channel) {
    expect_in_time([] {
        channel<int> empty(0);
        EXPECT_FALSE(empty.receive_for(k_limit));
    });
}

TEST(guest_deadline, full_empty_word) {
    expect_in_time([] {
        std::uint64_t word = 0; // a word is full until it is emptied
        EXPECT_FALSE(feb::try_write_ef_for(word, 1, k_limit));
    });
}

TEST(guest_deadline, condition) {
    expect_in_time([] {
        mutex m;
        condition_variable nobody;
        std::unique_lock held(m);
        EXPECT_EQ(nobody.wait_for(held, k_limit), std::cv_status::timeout);
    });
}

TEST(guest_deadline, future) {
    expect_in_time([] {
        promise<int> kept;
        EXPECT_FALSE(kept.get_future().wait_for(k_limit));
    });
}

TEST(guest_deadline, mutex) {
    expect_in_time([] {
        mutex held;
        std::lock_guard const owner(held);
        std::thread([&held] { EXPECT_FALSE(held.try_lock_for(k_limit)); }).join();
    });
}

TEST(guest_deadline, sleep) {
    expect_in_time([] {
        static_cast<void>(this_thread::get_id()); // attaches the OS thread
        this_thread::sleep_for(k_limit);
    });
}

TEST(guest_deadline, join) {
    expect_in_time([] {
        auto waits_behind_workers = spawn([] {});
        EXPECT_FALSE(waits_behind_workers.join_for(k_limit));
        waits_behind_workers.detach();
    });
}

TEST(guest_deadline, token) {
    expect_in_time([] {
        cancellation_source stop;
        std::thread later([&stop] {
            std::this_thread::sleep_for(k_limit);
            stop.request_stop();
        });
        latch never(1);
        EXPECT_FALSE(never.wait(stop.get_token()));
        later.join();
    });
}

} // namespace
} // namespace tulle
