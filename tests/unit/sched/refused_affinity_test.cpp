// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "forbidden_call.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include "arch/fiber_annotations.hpp"

#include <cerrno>
#include <vector>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace tulle;

// As a sandbox may have it. In a process of its own, in which nothing has run.
TEST(refused_affinity, a_program_starts_runs_and_ends_where_nobody_may_read_the_affinity_mask) {
    TULLE_SKIP_IF_EMULATED("filters of system calls");
#if defined(TULLE_ANNOTATE_ADDRESS) || defined(TULLE_ANNOTATE_THREAD)
    GTEST_SKIP() << "a sanitizer asks for the stack of each OS thread, and with it for the mask";
#endif
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    auto const run = [] {
        ::alarm(60); // it hung
        forbid_system_call(SYS_sched_getaffinity, EPERM);
        cpu_set_t set;
        if (::sched_getaffinity(0, sizeof set, &set) == 0) std::_Exit(98);
        initialize({.workers = 2});
        std::vector<thread<int>> threads;
        for (int k = 0; k < 100; ++k) threads.push_back(spawn([k] { return k; }));
        int sum = 0;
        for (auto& t : threads) sum += t.join();
        set_worker_count(0); // asks for the mask again
        finalize();
        std::_Exit(sum == 4950 ? 7 : 96);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

} // namespace
