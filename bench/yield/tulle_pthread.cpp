// SPDX-License-Identifier: Apache-2.0
// Beside what a yield takes, what the processor takes to set a thread pointer, which each of these
// switches does: the difference to threads that share their variables (yield of tulle) is at least
// that.
#include "../common/libraries/tulle_pthread.hpp"
#include "yield.hpp"

namespace tulle::bench {

namespace {

#if defined(__x86_64__)
int print_thread_pointer(settings const& s) {
    unsigned long own = 0;
    asm("rdfsbase %0" : "=r"(own));
    figure cost{"ns to set the thread pointer"};
    for (int run = 0; run < s.runs; ++run) {
        double const time = time_of([own, n = s.n] {
            for (long k = 0; k < n; ++k) asm volatile("wrfsbase %0" : : "r"(own) : "memory");
        });
        cost.add(1e9 * time / static_cast<double>(s.n), true);
    }
    return print_all("yield", tulle_pthread_runtime::k_name, s, {cost});
}
#else
int print_thread_pointer(settings const& /*s*/) { return 0; }
#endif

} // namespace

benchmark const registered("yield", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("yield", argc, argv);
    int const failed = yield_main<tulle_pthread_runtime>(argc, argv);
    return failed != 0 ? failed : print_thread_pointer(parse(argc, argv, {10'000'000, 200'000, 2}));
});

} // namespace tulle::bench
