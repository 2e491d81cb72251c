// SPDX-License-Identifier: Apache-2.0
// The program of pthread.hpp as it is, whose threads are Tulle's: it is started anew with the
// library that `tulle run --pthreads` loads. The number of workers is Tulle's. Main stays an OS
// thread, so a thread makes the others.
#pragma once

#include "../harness.hpp"
#include "../preloaded.hpp"
#include "pthread.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace tulle::bench {

struct tulle_pthread_runtime : pthread_runtime {
    static constexpr char const* k_name = "tulle_pthread";
    using pthread_runtime::pthread_runtime;

    template <class F> void run(F&& f) {
        group threads;
        threads.spawn([&f] { f(); });
        threads.wait();
    }
    template <class F> void alongside(F f) { f(); } // by main
};

// Before anything else of a benchmark whose options begin at argv[1].
inline void run_upon_tulle(char const* workload, int argc, char** argv) {
    auto const library = library_beside_program(TULLE_PRELOAD_FROM_BENCH, TULLE_PRELOAD_NAME);
    if (is_loaded(library)) return;
    constexpr char const* k_once = "TULLE_BENCH_IS_RELOADED";
    if (std::getenv(k_once) == nullptr) {
        settings const s = parse(argc, argv, {1, 1});
        setenv(k_once, "1", 1);
        setenv("TULLE_WORKERS", std::to_string(s.workers).c_str(), 1);
        std::string name = tulle_pthread_runtime::k_name, of_workload = workload;
        std::vector<char*> words{argv[0], of_workload.data(), name.data()};
        words.insert(words.end(), argv + std::min(1, argc), argv + argc);
        words.push_back(nullptr);
        start_with(library, words.data());
    }
    std::fprintf(stderr, "bench: cannot start with %s\n", library.c_str());
    std::exit(1);
}

} // namespace tulle::bench
