// SPDX-License-Identifier: Apache-2.0
// process-lock by processes that fork has made, in memory that they share.
#pragma once

#include "process_lock.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

// Lock: lock(), unlock(); made once for each run.
template <class Lock> struct counting_place {
    alignas(64) Lock lock;
    alignas(64) long count = 0;
    alignas(64) std::atomic<int> ready{0};
    std::atomic<bool> may_begin{false};
    std::array<double, k_process_counts.back()> ended{};

    void count_up(int number, long turns) {
        ready.fetch_add(1);
        while (!may_begin.load()) sched_yield();
        for (long k = 0; k < turns; ++k) {
            lock.lock();
            touch();
            ++count;
            touch();
            lock.unlock();
        }
        ended[static_cast<std::size_t>(number)] = seconds();
    }
};

template <class Lock> counted count_in_forks(int processes, long turns) {
    using place = counting_place<Lock>;
    void* const memory =
        mmap(nullptr, sizeof(place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::perror("mmap"), std::exit(1);
    auto* const shared = ::new (memory) place;
    int made = 0;
    for (int k = 0; k < processes; ++k) {
        pid_t const child = fork();
        if (child == 0) {
            shared->count_up(k, turns);
            _exit(0);
        }
        made += child > 0 ? 1 : 0;
    }
    while (shared->ready.load() < made) sched_yield();
    double const began = seconds();
    shared->may_begin.store(true);
    int good = 0;
    for (int status = 0; wait(&status) > 0;) good += status == 0 ? 1 : 0;
    long const counted_up = turns * processes;
    bool const right = good == processes && shared->count == counted_up;
    double const took = *std::max_element(shared->ended.begin(), shared->ended.end()) - began;
    shared->~place();
    munmap(memory, sizeof(place));
    return {took, counted_up, right};
}

template <class Lock> int forked_lock_main(int argc, char** argv, char const* name) {
    settings const s = parse(argc, argv, {100'000, 10'000, 20});
    return print_all("process-lock", name, s, count_by_processes(s, s.n, &count_in_forks<Lock>));
}

} // namespace tulle::bench
