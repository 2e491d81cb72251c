// SPDX-License-Identifier: Apache-2.0
// Loops by shepherds of one worker each, whose OS threads may run on one processor each, or on all.
// Which of these a shepherd may run on is for the system to say, so that its effect is that of
// pinning.
#pragma once

#include "../common/libraries/tulle.hpp"
#include "hpccg.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tulle/parallel_for.hpp>
#include <tulle/shepherd.hpp>

#include <sched.h>

namespace tulle::bench {

struct many_shepherds {
    explicit many_shepherds(int count) { tulle::set_option("shepherds", std::to_string(count)); }
};

// The calling OS thread runs on these from now on.
inline void stay_on(cpu_set_t const& cpus) {
    if (sched_setaffinity(0, sizeof cpus, &cpus) == 0) return;
    std::perror("sched_setaffinity");
    std::exit(1);
}

inline cpu_set_t allowed_cpus() {
    cpu_set_t all;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof all, &all);
    return all;
}
// One of them; where there are fewer, shepherds share it.
inline cpu_set_t one_of(cpu_set_t const& all, int index) {
    int left = index % CPU_COUNT(&all);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &all) && left-- == 0) CPU_SET(cpu, &one);
    return one;
}

template <bool IsPinned> struct placed_runtime : private many_shepherds, tulle_runtime {
    static constexpr char const* k_name = IsPinned ? "tulle_pinned" : "tulle_unpinned";

    explicit placed_runtime(int workers) : many_shepherds(workers), tulle_runtime(workers) {
        cpu_set_t const all = allowed_cpus();
        tulle_runtime::run([&] {
            for (int k = 0; k < workers; ++k) {
                tulle::attributes placed;
                placed.shepherd = k;
                tulle::spawn(placed, [&all, k] {
                    stay_on(IsPinned ? one_of(all, k) : all);
                    if (tulle::this_thread::shepherd_index() != k) std::abort();
                }).join();
            }
        });
    }
};

struct placed_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
        tulle::parallel_for(std::size_t{0}, count, body);
    }
};

} // namespace tulle::bench
