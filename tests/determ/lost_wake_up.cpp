// SPDX-License-Identifier: Apache-2.0
// A consumer waits until a producer has something. `planted`: the consumer looks without the mutex,
// so the notification may come between its look and its wait, and it sleeps for ever. `mended`: it
// looks under the mutex.
#include "variant.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <mutex>

namespace {

struct mailbox {
    tulle::mutex lock;
    tulle::condition_variable filled;
    std::atomic<int> letter{0};

    void put(int value) {
        std::lock_guard const held(lock);
        letter.store(value, std::memory_order_relaxed); // relaxed: under the lock
        filled.notify_one();
    }
    int take(bool planted) {
        if (planted) {
            // relaxed: part of the error
            if (letter.load(std::memory_order_relaxed) == 0) {
                std::unique_lock held(lock);
                filled.wait(held);
            }
        } else {
            std::unique_lock held(lock);
            filled.wait(held, [this] { return letter.load(std::memory_order_relaxed) != 0; });
        }
        return letter.load(std::memory_order_relaxed);
    }
};

} // namespace

int main(int argc, char** argv) {
    bool const planted = is_planted(argc, argv);
    mailbox box;
    auto consumer = tulle::spawn([&] { return box.take(planted); });
    auto producer = tulle::spawn([&] { box.put(7); });
    producer.join();
    return consumer.join() == 7 ? 0 : 1;
}
