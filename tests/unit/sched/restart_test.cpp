// SPDX-License-Identifier: Apache-2.0
// Starting and stopping over and over leaves nothing behind.
#include "base/sanitize.hpp"
#include "emulated.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using namespace tulle;

struct footprint {
    long mappings = 0;
    long descriptors = 0;
    long resident = 0; // bytes
};

long lines_of(char const* path) {
    std::ifstream file(path);
    long count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
}

footprint measure() {
    footprint f;
    f.mappings = lines_of("/proc/self/maps");
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        static_cast<void>(entry);
        ++f.descriptors;
    }
    std::ifstream file("/proc/self/statm");
    long size = 0;
    file >> size >> f.resident;
    f.resident *= sysconf(_SC_PAGESIZE);
    return f;
}

void live_once(int workers) {
    initialize({.workers = workers});
    thread_specific<int> own;
    worker_local<int> sum(0);
    this_thread::set_name("main");
    attributes named;
    named.name = "one";
    auto a = spawn(named, [&] {
        own.local() = 1;
        this_thread::yield();
        ++sum.local();
    });
    attributes large;
    large.stack_size = std::size_t{1} << 20U;
    auto b = spawn(large, [&] { ++sum.local(); });
    own.local() = 2;
    ASSERT_EQ(fib(8), 21);
    a.join();
    b.join();
    ASSERT_EQ(sum.combine([](int x, int y) { return x + y; }), 2);
    if (workers > 1) std::thread([] { ASSERT_EQ(fib(5), 5); }).join();
    finalize();
}

TEST(restart, a_thousand_times_leaves_no_memory_mappings_or_descriptors_behind) {
    // A life takes a tenth of a second under an emulator, and a third of that with this sanitizer.
    int const lives = is_emulated() || tulle::base::k_thread_sanitizer ? 150 : 900;
    for (int k = 0; k < lives / 9; ++k) live_once(1 + k % 3);
    footprint const before = measure();
    for (int k = 0; k < lives; ++k) live_once(1 + k % 3);
    footprint const after = measure();
    EXPECT_EQ(after.descriptors, before.descriptors);
    // Arenas and stacks that the C library keeps, and a sanitizer's memory; a leak would be one for
    // each life.
    constexpr long k_slack = 100;
    EXPECT_LE(after.mappings, before.mappings + k_slack);
#if !defined(TULLE_ANNOTATE_ADDRESS) &&                                                            \
    !defined(TULLE_ANNOTATE_THREAD) // they keep freed memory for a while
    // Its own memory is counted, too.
    if (is_emulated()) return;
    EXPECT_LE(after.resident, before.resident + (long{4} << 20U));
#endif
}

} // namespace
