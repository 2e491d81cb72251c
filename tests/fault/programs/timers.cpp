// SPDX-License-Identifier: Apache-2.0
//
// Threads that sleep, and waits with a time-out: none may end before its time.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <chrono>
#include <mutex>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds k_time{300};

void late_enough(clock_type::time_point begin, char const* sentence) {
    fault::require(clock_type::now() - begin >= k_time, sentence);
}

void sleep() {
    auto const begin = clock_type::now();
    tulle::this_thread::sleep_for(k_time);
    late_enough(begin, "a sleep ends early");
}

struct never {
    tulle::mutex lock;
    tulle::condition_variable notified;
    tulle::latch opened{1};
};

void wait_for_condition(never& n) {
    std::unique_lock held(n.lock);
    auto const begin = clock_type::now();
    if (n.notified.wait_for(held, k_time) == std::cv_status::timeout)
        late_enough(begin, "a wait for a condition ends early");
}

void wait_for_latch(never& n) {
    auto const begin = clock_type::now();
    fault::require(!n.opened.wait_for(k_time), "a latch opens by itself");
    late_enough(begin, "a wait for a latch ends early");
}

void wait_for_thread(never& n) {
    tulle::thread<void> thread;
    if (!fault::attempt([&] { thread = tulle::spawn([&n] { n.opened.wait(); }); })) return;
    auto const begin = clock_type::now();
    fault::require(!thread.join_for(k_time), "a thread ends by itself");
    late_enough(begin, "a timed join ends early");
    n.opened.count_down();
    thread.join();
}

void body() {
    fault::run_time const running(2);
    never n;
    std::vector<tulle::thread<void>> threads(20);
    for (auto& thread : threads) {
        fault::attempt([&] {
            thread = tulle::spawn([&n] {
                sleep();
                wait_for_condition(n);
                wait_for_latch(n);
            });
        });
    }
    for (auto& thread : threads) {
        if (thread.joinable()) thread.join();
    }
    wait_for_thread(n);
}

} // namespace

int main() { return fault::run(&body); }
