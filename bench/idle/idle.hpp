// SPDX-License-Identifier: Apache-2.0
// idle: the library is started, has run a thread, and has nothing to do for n milliseconds, while
// the program's first thread waits. Figure: % CPU, the processor time that the whole process used,
// of the elapsed time.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <thread>

namespace tulle::bench {

// % CPU of `milliseconds` of rest.
inline double idle_load(long milliseconds) {
    auto const rest = [](long time) {
        std::this_thread::sleep_for(std::chrono::milliseconds(time));
    };
    rest(20); // time to settle
    double const used = processor_seconds();
    double const elapsed = time_of([&] { rest(milliseconds); });
    return 100 * (processor_seconds() - used) / elapsed;
}

template <class Library> int idle_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {2000, 200});
    Library library(s.workers);
    figure load{"% CPU"};
    for (int i = 0; i < s.runs; ++i) {
        long ran = 0;
        library.run([&] {
            typename Library::group threads;
            threads.spawn([&ran] { ++ran; });
            threads.wait();
        });
        run_alongside(library, [&] { load.add(idle_load(s.n), ran == 1); });
    }
    return print_all("idle", Library::k_name, s, {load});
}

} // namespace tulle::bench
