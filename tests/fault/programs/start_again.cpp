// SPDX-License-Identifier: Apache-2.0
//
// Starts and ends the run time again and again, with other numbers of workers; between, a thread of
// each kind and a guest.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <thread>

namespace {

int fork_and_spawn() {
    auto child = tulle::fork([]() noexcept { return 1; });
    int second = 1;
    fault::attempt([&] { second = tulle::spawn([] { return 1; }).join(); });
    return child.join() + second;
}

void use() {
    fault::require(fork_and_spawn() == 2, "a thread is lost");
    std::thread([] { fault::require(fork_and_spawn() == 2, "a thread is lost"); }).join();
}

void body() {
    for (int k = 2; k <= 4; ++k) { // one of them waits for the guest with its OS thread
        if (!fault::attempt([k] { tulle::initialize({.workers = k}); })) continue;
        use();
        fault::arm();
        tulle::finalize();
    }
    fault::disarm();
}

} // namespace

int main() { return fault::run(&body); }
