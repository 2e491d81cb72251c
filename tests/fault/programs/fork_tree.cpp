// SPDX-License-Identifier: Apache-2.0
//
// A tree of forked threads, joined in and out of order, some of which wait; more of them at once
// than the smallest deque holds.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <atomic>

namespace {

long fib(int n) {
    if (n < 2) return n;
    if (n % 5 == 0) tulle::this_thread::yield();
    auto left = tulle::fork([n] { return fib(n - 1); });
    auto right = tulle::fork([n] { return fib(n - 2); });
    long const first = left.join(); // out of order
    return first + right.join();
}

void wide() {
    constexpr int k_children = 600;
    std::atomic<int> ended{0};
    fault::attempt(
        [&] {
            ended = 0;
            tulle::scope children;
            for (int k = 0; k < k_children; ++k)
                children.spawn([&ended] { ended.fetch_add(1, std::memory_order_relaxed); });
        },
        fault::allows::bad_alloc_too);
    fault::require(ended == k_children || fault::is_lasting(), "a child is lost");
}

// Closures that do not fit into a record.
FAULT_LIBRARY_PART void large() {
    std::array<long, 16> values{};
    long sum = 0;
    fault::attempt(
        [&] {
            sum = 0;
            tulle::scope children;
            children.spawn([values, &sum] { sum += 1 + values[3]; });
            children.join();
        },
        fault::allows::bad_alloc_too);
    fault::require(sum == 1 || fault::is_lasting(), "a child is lost");
}

void body() {
    fault::run_time const running(2);
    fault::require(fib(14) == 377, "a wrong result");
    wide();
    large();
}

} // namespace

int main() { return fault::run(&body); }
