// SPDX-License-Identifier: Apache-2.0
// Work of processes that CREATE of PARMACS has made, in memory that they share. It is not
// G_MALLOC's, of which each may have a copy of its own, as code of this program has no checks.
#pragma once

#include "processes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include <tulle/c/global_memory.h>
#include <tulle_parmacs.h>

namespace tulle::bench {

// Work: made once. begin(processes) precedes each run; each process calls turn(its number) over and
// over; finish(turns) says what became of it.
template <class Work> struct created_work {
    tulle_parmacs_lock_t of_numbers;
    tulle_parmacs_barrier_t start;
    int processes;
    long turns;
    int next;
    std::array<interval, k_process_counts.back()> times;
    alignas(64) Work work;
};
template <class Work> inline created_work<Work>* s_work = nullptr; // CREATE copies it

template <class Work> void take_part() {
    created_work<Work>& all = *s_work<Work>;
    tulle_parmacs_lock(all.of_numbers);
    int const own = all.next++;
    tulle_parmacs_unlock(all.of_numbers);
    tulle_parmacs_barrier(all.start, all.processes);
    all.times[static_cast<std::size_t>(own)] = interval_of([&] {
        for (long k = 0; k < all.turns; ++k) all.work.turn(own);
    });
}

template <class Work> counted work_in_created(int processes, long turns) {
    created_work<Work>& all = *s_work<Work>;
    all.processes = processes;
    all.turns = turns;
    all.next = 0;
    all.work.begin(processes);
    for (int k = 1; k < processes; ++k) tulle_parmacs_create(&take_part<Work>);
    take_part<Work>();
    tulle_parmacs_wait_for_end(processes - 1);
    interval whole = all.times.front();
    for (interval const& each : std::span(all.times).first(static_cast<std::size_t>(processes)))
        whole = {std::min(whole.began, each.began), std::max(whole.ended, each.ended)};
    counted found = all.work.finish(turns);
    found.took = whole.ended - whole.began;
    return found;
}

template <class Work>
int parmacs_main(int argc, char** argv, char const* of_workload, char const* of_library,
                 sizes size) {
    settings const s = parse(argc, argv, size);
    // Begins again as several processes, with the words that it was called with.
    std::string workload = of_workload;
    std::string library = of_library;
    std::vector<char*> words{argv, argv + argc};
    words.insert(words.begin() + 1, {workload.data(), library.data()});
    words.push_back(nullptr);
    tulle_parmacs_before_main(words.data());
    tulle_parmacs_begin();
    void* memory = nullptr;
    if (int const error = tulle_global_malloc(&memory, sizeof(created_work<Work>))) {
        std::fprintf(stderr, "%s: %s\n", of_workload, std::strerror(-error));
        return 1;
    }
    s_work<Work> = ::new (memory) created_work<Work>;
    tulle_parmacs_lock_init(&s_work<Work>->of_numbers, 1);
    tulle_parmacs_barrier_init(&s_work<Work>->start, 1);
    auto const figures = count_by_processes(s, s.n, &work_in_created<Work>);
    tulle_parmacs_end();
    return print_all(of_workload, library.c_str(), s, figures);
}

} // namespace tulle::bench
