// SPDX-License-Identifier: Apache-2.0
// startup: a process that starts, runs one thread by the library, and ends; n of them in turn, with
// the library's own number of workers.
// Figure: ms from its making until it has been waited for, the median of each run. Its exit code
// says that the thread has run.
#pragma once

#include "../common/harness.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

inline constexpr char k_only_once[] = "--only-once"; // what the processes are told

// The milliseconds of a process of that file, a program with benchmarks, for that library; `ok`
// stays true if it has ended as it should.
inline double process_ms(std::string file, std::string library, bool& ok) {
    std::string workload = "startup";
    std::string word = k_only_once;
    char* const arguments[] = {file.data(), workload.data(), library.data(), word.data(), nullptr};
    bool ended_well = false;
    double const time = time_of([&] {
        pid_t child = 0;
        int status = 0;
        ended_well = posix_spawn(&child, file.c_str(), nullptr, nullptr, arguments, environ) == 0 &&
                     waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                     WEXITSTATUS(status) == 0;
    });
    ok = ok && ended_well;
    return 1e3 * time;
}

// `run_thread` starts a thread, waits for it, and returns whether it has run.
template <class F> int startup_main(int argc, char** argv, char const* library, F run_thread) {
    if (argc == 2 && std::strcmp(argv[1], k_only_once) == 0) return run_thread() ? 0 : 1;
    settings const s = parse(argc, argv, {200, 20});
    figure start_and_exit{"ms a process"};
    for (int i = 0; i < s.runs; ++i) {
        bool ok = true;
        std::vector<double> times;
        for (long k = 0; k < s.n; ++k) times.push_back(process_ms("/proc/self/exe", library, ok));
        start_and_exit.add(median(times), ok);
    }
    return print_all("startup", library, s, {start_and_exit});
}

} // namespace tulle::bench
