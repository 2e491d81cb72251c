// SPDX-License-Identifier: Apache-2.0
//
// How long the system itself takes to wake an OS thread, where others may have the processors: what
// a time of the library is compared with.
#pragma once

#include "os/task_state.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

// Of one that sleeps: from the call that wakes it until it runs, and counts as `most` at most.
inline std::chrono::steady_clock::duration
system_wake_up(std::chrono::steady_clock::duration most) {
    using clock = std::chrono::steady_clock;
    std::atomic<int> tid{0};
    std::atomic<bool> goes_on{false};
    clock::time_point woken_at;
    std::thread woken([&] {
        tid.store(tulle::os::thread_id());
        goes_on.wait(false);
        woken_at = clock::now();
    });
    tulle::os::task_state its;
    while (tid.load() == 0 || its.read(tid.load()).state == tulle::os::task_state::kind::computes)
        std::this_thread::yield();
    auto const begin = clock::now();
    goes_on.store(true);
    goes_on.notify_one();
    woken.join();
    return std::min(woken_at - begin, most);
}

// The median of some.
inline std::chrono::steady_clock::duration
median_system_wake_up(std::chrono::steady_clock::duration most) {
    std::vector<std::chrono::steady_clock::duration> times;
    for (int k = 0; k < 21; ++k) times.push_back(system_wake_up(most));
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    return times[10];
}
