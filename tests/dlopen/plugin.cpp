// SPDX-License-Identifier: Apache-2.0
// A library that uses Tulle, to be loaded and unloaded by host.cpp.
#include <tulle/tulle.hpp>

#include <vector>

static long fib(long n) {
    if (n < 2) return n;
    auto older = tulle::fork([n] { return fib(n - 1); });
    long const younger = fib(n - 2);
    return older.join() + younger;
}

// 0 when all is well. The run time goes on afterwards, unless `finalize`.
extern "C" __attribute__((visibility("default"))) int plugin_run(int finalize) {
    tulle::latch all(20);
    tulle::thread_specific<int> own;
    std::vector<tulle::thread<int>> threads;
    for (int k = 0; k < 20; ++k) {
        threads.push_back(tulle::spawn([&, k] {
            own.local() = k;
            all.count_down();
            all.wait();
            return *own;
        }));
    }
    int sum = 0;
    for (auto& t : threads) sum += t.join();
    bool const good = sum == 190 && fib(15) == 610;
    if (finalize != 0) tulle::finalize();
    return good ? 0 : 1;
}
