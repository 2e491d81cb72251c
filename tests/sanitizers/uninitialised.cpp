// SPDX-License-Identifier: Apache-2.0
//
// A Tulle thread that has blocked decides by a word that nobody has written: Valgrind must find it
// and show its stack.
#include <tulle/tulle.hpp>

#include <cstdio>
#include <memory>

namespace {

[[gnu::noinline]] void decide_by(int volatile* word) {
    if (*word > 3) std::puts("more");
}

void work(tulle::latch& gate) {
    std::unique_ptr<int[]> const words(new int[4]);
    gate.wait();
    decide_by(&words[1]);
}

} // namespace

int main() {
    tulle::initialize({.workers = 2});
    tulle::latch gate(1);
    auto thread = tulle::spawn(&work, std::ref(gate));
    tulle::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate.count_down();
    thread.join();
    tulle::finalize();
    return 0;
}
