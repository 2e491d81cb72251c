// SPDX-License-Identifier: Apache-2.0
// Work of processes that fork has made, in memory that they share.
#pragma once

#include "processes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

// Work: made once for each run, from the number of processes. Each of them calls turn(its number)
// over and over; finish(turns) says what became of it.
template <class Work> struct forked_work {
    explicit forked_work(int processes) : work(processes) {}

    alignas(64) Work work;
    alignas(64) std::atomic<int> ready{0};
    std::atomic<bool> may_begin{false};
    std::array<double, k_process_counts.back()> ended{};

    void take_part(int number, long turns) {
        ready.fetch_add(1);
        while (!may_begin.load()) sched_yield();
        for (long k = 0; k < turns; ++k) work.turn(number);
        ended[static_cast<std::size_t>(number)] = seconds();
    }
};

template <class Work> counted work_in_forks(int processes, long turns) {
    using shared_work = forked_work<Work>;
    void* const memory = mmap(nullptr, sizeof(shared_work), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::perror("mmap"), std::exit(1);
    auto* const shared = ::new (memory) shared_work(processes);
    int made = 0;
    for (int k = 0; k < processes; ++k) {
        pid_t const child = ::fork();
        if (child == 0) {
            shared->take_part(k, turns);
            _exit(0);
        }
        if (child < 0) std::perror("fork"), std::exit(1); // those that are there would wait for it
        ++made;
    }
    while (shared->ready.load() < made) sched_yield();
    double const began = seconds();
    shared->may_begin.store(true);
    int good = 0;
    for (int status = 0; wait(&status) > 0;) good += status == 0 ? 1 : 0;
    counted found = shared->work.finish(turns);
    found.took = *std::max_element(shared->ended.begin(), shared->ended.end()) - began;
    found.right = found.right && good == processes;
    shared->~shared_work();
    munmap(memory, sizeof(shared_work));
    return found;
}

template <class Work>
int forked_main(int argc, char** argv, char const* workload, char const* name, sizes size) {
    settings const s = parse(argc, argv, size);
    return print_all(workload, name, s, count_by_processes(s, s.n, &work_in_forks<Work>));
}

} // namespace tulle::bench
