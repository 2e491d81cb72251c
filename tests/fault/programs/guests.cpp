// SPDX-License-Identifier: Apache-2.0
//
// OS threads that Tulle has not made: they fork, spawn, wait, and end.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace {

constexpr int k_guests = 3;

struct shared {
    tulle::barrier all{k_guests + 1};
    tulle::mutex lock;
    int steps = 0;
    std::atomic<int> started{0}, ran{0};
};

void be_guest(shared& s) {
    s.all.arrive_and_wait();
    auto child = tulle::fork([]() noexcept { return 3; });
    tulle::thread<void> thread;
    bool const started = fault::attempt(
        [&] { thread = tulle::spawn([&s] { s.ran.fetch_add(1, std::memory_order_relaxed); }); });
    s.started.fetch_add(started, std::memory_order_relaxed);
    for (int k = 0; k < 100; ++k) {
        std::lock_guard const held(s.lock);
        ++s.steps;
    }
    tulle::this_thread::sleep_for(std::chrono::microseconds(100));
    if (started && !thread.join_for(std::chrono::microseconds(1))) thread.join();
    if (thread.joinable()) thread.join();
    fault::require(child.join() == 3, "a child is lost");
    s.all.arrive_and_wait();
}

void body() {
    fault::run_time const running(2);
    shared s;
    std::array<std::thread, k_guests> guests;
    for (auto& guest : guests) guest = std::thread(&be_guest, std::ref(s));
    s.all.arrive_and_wait();
    s.all.arrive_and_wait();
    for (auto& guest : guests) guest.join();
    fault::require(s.steps == k_guests * 100, "a step is lost");
    fault::require(s.ran == s.started, "a thread is lost");
}

} // namespace

int main() { return fault::run(&body); }
