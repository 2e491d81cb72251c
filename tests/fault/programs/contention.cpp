// SPDX-License-Identifier: Apache-2.0
//
// Threads that contend for a mutex, meet at a barrier, and hand a token on by a condition variable
// and by signals.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <mutex>

namespace {

constexpr int k_threads = 6;
constexpr int k_rounds = 20;

struct ring {
    tulle::mutex lock;
    tulle::condition_variable moved;
    tulle::barrier round{k_threads};
    int turn = 0;
    long sum = 0;

    void take_part(int self) {
        for (int k = 0; k < k_rounds; ++k) {
            {
                std::unique_lock held(lock);
                moved.wait(held, [&] { return turn == self; });
                turn = (turn + 1) % k_threads;
                ++sum;
            }
            moved.notify_all();
            round.arrive_and_wait();
            for (int j = 0; j < 5; ++j) {
                std::lock_guard const held(lock);
                ++sum;
                if (j == 2) tulle::this_thread::yield();
            }
        }
    }
};

void body() {
    fault::run_time const running(2);
    ring r;
    std::array<tulle::thread<void>, k_threads> threads;
    int self = 0;
    for (auto& thread : threads) {
        bool const started =
            fault::attempt([&] { thread = tulle::spawn([&r, self] { r.take_part(self); }); });
        if (!started) std::_Exit(0); // only where calls go on failing; the others wait for it
        ++self;
    }
    for (auto& thread : threads) thread.join();
    fault::require(r.sum == long{k_threads} * k_rounds * 6, "a step is lost");
}

} // namespace

int main() { return fault::run(&body); }
