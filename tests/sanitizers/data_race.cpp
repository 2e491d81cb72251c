// SPDX-License-Identifier: Apache-2.0
//
// Two Tulle threads write a word without a lock: ThreadSanitizer must find them, with the stack of
// each. Both block before, so that they stand on stacks of their own, and go on on any worker.
#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

long g_word = 0;
std::atomic<int> g_written{0};

// relaxed: orders nothing between the two.
[[gnu::noinline]] void first_writer() {
    g_word += 1;
    g_written.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void second_writer() {
    g_word += 2;
    g_written.fetch_add(1, std::memory_order_relaxed);
}

// Each keeps its worker until the other has written, so that no switch of one worker orders them.
// It sleeps in the kernel meanwhile: the sanitizer forgets the stacks of writes after so many
// accesses.
void write_at_once(tulle::latch& gate, void (*writer)()) {
    gate.wait();
    writer();
    while (g_written.load(std::memory_order_relaxed) != 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

int main() {
    tulle::initialize({.workers = 2});
    tulle::latch gate(1);
    auto first = tulle::spawn(&write_at_once, std::ref(gate), &first_writer);
    auto second = tulle::spawn(&write_at_once, std::ref(gate), &second_writer);
    tulle::this_thread::sleep_for(std::chrono::milliseconds(5));
    gate.count_down();
    first.join();
    second.join();
    tulle::finalize();
    return g_word == 0 ? 1 : 0;
}
