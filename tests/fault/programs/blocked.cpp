// SPDX-License-Identifier: Apache-2.0
//
// A thousand threads that all wait at once.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <vector>

namespace {

constexpr int k_threads = 1000;

void body() {
    fault::run_time const running(2);
    tulle::latch gate(1);
    std::atomic<int> passed{0};
    std::vector<tulle::thread<void>> threads(k_threads);
    int started = 0;
    for (auto& thread : threads) {
        started += fault::attempt([&] {
            thread = tulle::spawn([&] {
                gate.wait();
                passed.fetch_add(1, std::memory_order_relaxed);
            });
        });
    }
    tulle::this_thread::yield();
    gate.count_down();
    for (auto& thread : threads) {
        if (thread.joinable()) thread.join();
    }
    fault::require(passed == started, "a thread is lost");
}

} // namespace

int main() { return fault::run(&body); }
