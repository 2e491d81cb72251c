// SPDX-License-Identifier: Apache-2.0
// process-lock: processes lock, increment one counter and unlock, n times in all; ns for each, over
// the number of processes. Figure 5 of N. Ekström, "Improving DSZOOM's run time system", 2004.
// Here: LOCK and UNLOCK of PARMACS, in processes of CREATE.
#include "process_lock.hpp"

#include <algorithm>
#include <span>

#include <tulle_parmacs.h>

namespace tulle::bench {

namespace {

// In memory of G_MALLOC.
struct shared_count {
    tulle_parmacs_lock_t lock;
    tulle_parmacs_lock_t of_numbers;
    tulle_parmacs_barrier_t start;
    int processes;
    long turns;
    int next;
    std::array<interval, k_process_counts.back()> times;
    alignas(64) long count;
};
shared_count* s_shared = nullptr; // CREATE copies it

void count_up() {
    shared_count& all = *s_shared;
    tulle_parmacs_lock(all.of_numbers);
    auto const own = static_cast<std::size_t>(all.next++);
    tulle_parmacs_unlock(all.of_numbers);
    tulle_parmacs_barrier(all.start, all.processes);
    all.times[own] = interval_of([&] {
        for (long k = 0; k < all.turns; ++k) {
            tulle_parmacs_lock(all.lock);
            ++all.count;
            tulle_parmacs_unlock(all.lock);
        }
    });
}

counted count_in_processes(int processes, long turns) {
    shared_count& all = *s_shared;
    all.processes = processes;
    all.turns = turns;
    all.count = all.next = 0;
    for (int k = 1; k < processes; ++k) tulle_parmacs_create(&count_up);
    count_up();
    tulle_parmacs_wait_for_end(processes - 1);
    interval whole = all.times.front();
    for (interval const& each : std::span(all.times).first(static_cast<std::size_t>(processes)))
        whole = {std::min(whole.began, each.began), std::max(whole.ended, each.ended)};
    long const counted_up = turns * processes;
    return {whole.ended - whole.began, counted_up, all.count == counted_up};
}

int parmacs_lock_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {100'000, 10'000, 20});
    // Begins again as several processes, with the words that it was called with.
    std::vector<char*> words{argv, argv + argc};
    char workload[] = "process-lock";
    char library[] = "tulle_parmacs";
    words.insert(words.begin() + 1, {workload, library});
    words.push_back(nullptr);
    tulle_parmacs_before_main(words.data());
    tulle_parmacs_begin();
    s_shared = static_cast<shared_count*>(tulle_parmacs_malloc(sizeof(shared_count)));
    tulle_parmacs_lock_init(&s_shared->lock, 1);
    tulle_parmacs_lock_init(&s_shared->of_numbers, 1);
    tulle_parmacs_barrier_init(&s_shared->start, 1);
    auto const figures = count_by_processes(s, s.n, &count_in_processes);
    tulle_parmacs_end();
    return print_all("process-lock", "tulle_parmacs", s, figures);
}

} // namespace

benchmark const registered("process-lock", "tulle_parmacs", &parmacs_lock_main);

} // namespace tulle::bench
