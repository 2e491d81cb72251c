// SPDX-License-Identifier: Apache-2.0
// Computes, checks what it computes, and does meanwhile what lines on its input say:
//   cpus              prints how many workers it has, and its CPUs
//   want LEAST MOST WEIGHT
//   end               prints how often it has computed, or how often what came out was wrong, and
//                     ends; so does the end of the input
// With the argument `hang` it waits for nothing instead.
#include "forked_fib.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> s_ends{false};

void print_cpus() {
    std::printf("%d", tulle::worker_count());
    for (int const cpu : tulle::own_cpus()) std::printf(" %d", cpu);
    std::printf("\n");
}

void obey(std::string const& line) {
    std::istringstream words(line);
    std::string command;
    tulle::cpu_wish wish;
    words >> command >> wish.least >> wish.most >> wish.weight;
    if (command == "cpus") print_cpus();
    if (command == "want") tulle::want_cpus(wish);
    if (command == "end") s_ends.store(true);
    std::fflush(stdout);
}

void listen() {
    for (std::string line; !s_ends.load() && std::getline(std::cin, line);) obey(line);
    s_ends.store(true);
}

// Threads with a handle, forks, and what they give; true: as it should be.
bool compute() {
    std::vector<tulle::thread<long>> threads;
    for (int k = 0; k < 20; ++k) threads.push_back(tulle::spawn([] { return fib(12); }));
    bool is_right = fib(18) == 2584;
    for (auto& t : threads) is_right = t.join() == 144 && is_right;
    return is_right;
}

} // namespace

int main(int argc, char** argv) {
    tulle::initialize();
    if (argc > 1 && std::string(argv[1]) == "hang") {
        tulle::latch never(1);
        never.wait();
    }
    std::thread listener(&listen);
    long rounds = 0;
    long wrong = 0;
    do {
        ++rounds;
        wrong += compute() ? 0 : 1;
    } while (!s_ends.load());
    listener.join();
    tulle::finalize();
    std::printf("%ld rounds, %ld wrong\n", rounds, wrong);
    return wrong == 0 ? 0 : 1;
}
