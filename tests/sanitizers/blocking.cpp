// SPDX-License-Identifier: Apache-2.0
//
// Nothing is wrong here: thousands of threads block at once, move between workers, throw and catch
// over their waits, and end; twice, so that stacks are used again. Neither a sanitizer nor Valgrind
// may say a word. The argument is the number of threads.
#include <tulle/tulle.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

struct shared {
    tulle::latch gate{1};
    tulle::mutex lock;
    long sum = 0;
    std::vector<int> order;
};

// On whichever worker the thread goes on.
void add(shared& s, int number) {
    std::lock_guard const held(s.lock);
    s.sum += number;
    s.order.push_back(number);
}

int throw_and_catch(int number) {
    try {
        std::vector<int> const unwound(8, number);
        tulle::this_thread::yield();
        throw std::runtime_error("on its way through a frame with a destructor");
    } catch (std::runtime_error const&) {
        tulle::this_thread::yield(); // another thread handles its exception meanwhile
        return number;
    }
}

int fork_below(int number) {
    auto child = tulle::fork([number] { return number < 2 ? number : fork_below(number - 1) + 1; });
    return child.join();
}

int work(shared& s, int number) {
    std::vector<int> const own(16, number);
    s.gate.wait();
    add(s, own[7]);
    tulle::this_thread::yield();
    int const result = number % 3 == 0 ? throw_and_catch(number) : own[15];
    static_cast<void>(fork_below(number % 8));
    if (number % 100 == 0) throw std::runtime_error("for the joiner");
    return result;
}

long join_all(std::vector<tulle::thread<int>>& threads) {
    long sum = 0;
    for (std::size_t k = 0; k < threads.size(); ++k) {
        try {
            sum += threads[k].join();
        } catch (std::runtime_error const&) {
            sum += static_cast<long>(k);
        }
    }
    return sum;
}

bool run(int count) {
    shared s;
    std::vector<tulle::thread<int>> threads;
    for (int k = 0; k < count; ++k) threads.push_back(tulle::spawn(&work, std::ref(s), k));
    tulle::this_thread::sleep_for(std::chrono::milliseconds(1));
    s.gate.count_down();
    long const expected = static_cast<long>(count) * (count - 1) / 2;
    return join_all(threads) == expected && s.sum == expected;
}

} // namespace

int main(int argc, char** argv) {
    int const count = argc == 2 ? std::atoi(argv[1]) : 100;
    tulle::initialize({.workers = 2});
    bool const right = run(count) && run(count);
    tulle::finalize();
    std::puts(right ? "right" : "wrong");
    return right ? 0 : 1;
}
