// SPDX-License-Identifier: Apache-2.0
// Timed waits of an OS thread that the library has not made end in time whatever the workers do:
// they compute, or sit in the kernel.
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
constexpr auto k_busy = 40s;     // what the workers compute at most
constexpr auto k_too_late = 20s; // between the two: the wait ended by itself

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

TEST(guest_deadline, condition_of_any_lock) {
    expect_in_time([] {
        std::mutex m;
        condition_variable_any nobody;
        std::unique_lock held(m);
        EXPECT_EQ(nobody.wait_for(held, k_limit), std::cv_status::timeout);
    });
}

TEST(guest_deadline, barrier) {
    expect_in_time([] {
        barrier two(2);
        EXPECT_FALSE(two.arrive_and_wait_for(k_limit));
    });
}

TEST(guest_deadline, phased_barrier) {
    expect_in_time([] {
        phased_barrier<> two(2);
        auto const arrival = two.arrive();
        EXPECT_FALSE(two.wait_for(arrival, k_limit));
    });
}

TEST(guest_deadline, shared_mutex) {
    expect_in_time([] {
        shared_mutex held;
        std::lock_guard const owner(held);
        std::thread([&held] {
            EXPECT_FALSE(held.try_lock_for(k_limit / 2));
            EXPECT_FALSE(held.try_lock_shared_for(k_limit / 2));
        }).join();
    });
}

TEST(guest_deadline, select) {
    expect_in_time([] {
        channel<int> empty(0), full(1);
        EXPECT_EQ(full.try_send(1), channel_status::success);
        receive_case<int> news(empty);
        send_case<int> answer(full, 2);
        EXPECT_EQ(select_for(k_limit, news, answer), no_case);
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

// A deadline of a token is nobody's but the waiter's, either.
TEST(guest_deadline, deadline_of_a_token) {
    expect_in_time([] {
        cancellation_source stop;
        stop.request_stop_after(k_limit);
        latch never(1);
        EXPECT_FALSE(never.wait(stop.get_token()));
        EXPECT_TRUE(stop.get_token().stop_requested());
    });
}

TEST(guest_deadline, deadline_of_a_token_beside_a_later_one_of_the_wait) {
    expect_in_time([] {
        cancellation_source stop;
        stop.request_stop_after(k_limit);
        latch never(1);
        EXPECT_FALSE(never.wait({stop.get_token(), k_too_late}));
    });
}

TEST(guest_deadline, of_a_wait_with_a_token_whose_deadline_is_later) {
    expect_in_time([] {
        cancellation_source stop;
        stop.request_stop_after(k_too_late);
        latch never(1);
        EXPECT_FALSE(never.wait({stop.get_token(), k_limit}));
        EXPECT_FALSE(stop.stop_requested());
    });
}

TEST(guest_deadline, deadline_of_what_a_token_is_a_part_of) {
    expect_in_time([] {
        cancellation_source whole;
        cancellation_source const middle(whole.get_token());
        cancellation_source part(middle.get_token());
        part.request_stop_after(k_too_late);
        whole.request_stop_after(k_limit);
        EXPECT_TRUE(part.get_token().wait_for(k_too_late));
    });
}

// It sleeps by then, without a deadline or until a later one.
TEST(guest_deadline, deadline_that_a_token_is_given_during_the_wait) {
    for (auto const first : {clock::duration::zero(), clock::duration(k_too_late)}) {
        expect_in_time([first] {
            cancellation_source stop;
            if (first != clock::duration::zero()) stop.request_stop_after(first);
            std::thread later([&stop] {
                std::this_thread::sleep_for(k_limit / 2);
                stop.request_stop_after(k_limit / 2);
            });
            latch never(1);
            EXPECT_FALSE(never.wait(stop.get_token()));
            later.join();
        });
    }
}

} // namespace
} // namespace tulle
