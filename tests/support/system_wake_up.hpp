// SPDX-License-Identifier: Apache-2.0
//
// How long the system itself takes to wake an OS thread, where others may have the processors: what
// a time of the library is compared with.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

// From the call that wakes it until it runs: the median of some, each of which counts as `most` at
// most.
inline std::chrono::steady_clock::duration
median_system_wake_up(std::chrono::steady_clock::duration most) {
    using clock = std::chrono::steady_clock;
    std::vector<clock::duration> times;
    for (int k = 0; k < 21; ++k) {
        std::atomic<int> step{0};
        std::thread woken([&step] {
            step.wait(0);
            step.store(2);
        });
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        auto const begin = clock::now();
        step.store(1);
        step.notify_one();
        while (step.load() != 2) std::this_thread::yield();
        times.push_back(std::min(clock::now() - begin, most));
        woken.join();
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
}
