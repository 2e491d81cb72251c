// SPDX-License-Identifier: Apache-2.0
//
// Runs a body in lightweight threads and in OS threads of the program's own at once: body(index).
#pragma once

#include <tulle/thread.hpp>

#include <thread>
#include <vector>

template <class F> void run_in_both_kinds(int green, int foreign, F const& body) {
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> others;
    for (int i = 0; i < green; ++i) threads.push_back(tulle::spawn([&body, i] { body(i); }));
    for (int i = 0; i < foreign; ++i) others.emplace_back([&body, i, green] { body(green + i); });
    for (auto& t : threads) t.join();
    for (auto& t : others) t.join();
}
