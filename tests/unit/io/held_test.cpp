// SPDX-License-Identifier: Apache-2.0
// As many connections as there are descriptors for, each with a thread that waits for input.
#include "base/sanitize.hpp"
#include "io_fixture.hpp"
#include "memory_probe.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace tulle;

using io_held = io_calls;

// At most; two descriptors each.
std::size_t connections_possible(std::size_t wanted) {
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    constexpr rlim_t k_others = 200;
    return std::min<std::size_t>(wanted, (limit.rlim_cur - k_others) / 2);
}

TEST_P(io_held, idle_connections_take_little_memory) {
    constexpr bool k_is_measured = !base::k_address_sanitizer && !base::k_thread_sanitizer;
    std::size_t const count = connections_possible(k_is_measured ? 5000 : 500);
    std::vector<connected_pair> pairs(count);
    std::vector<thread<bool>> threads;
    threads.reserve(count);
    spawn([] {}).join();
    std::size_t const before = resident_bytes();
    for (connected_pair const& p : pairs)
        threads.push_back(spawn([&p] {
            std::array<char, 64> bytes{};
            ssize_t n = 0;
            while ((n = io::read(p.ours(), bytes.data(), bytes.size())) > 0) {
                if (io::write(p.ours(), bytes.data(), static_cast<std::size_t>(n)) != n)
                    return false;
            }
            return n == 0;
        }));
    auto const exchange = [&] {
        char c = 'h';
        for (connected_pair const& p : pairs) EXPECT_EQ(io::write(p.theirs(), &c, 1), 1);
        for (connected_pair const& p : pairs) EXPECT_EQ(io::read(p.theirs(), &c, 1), 1);
    };
    exchange();
    std::size_t const each = (resident_bytes() - before) / count;
    RecordProperty("bytes_each", static_cast<int>(each));
    EXPECT_TRUE(!k_is_measured || each <= (std::size_t{10} << 10U)) << each << " bytes each";
    exchange();
    for (connected_pair& p : pairs) p.close_theirs();
    EXPECT_TRUE(std::all_of(threads.begin(), threads.end(), [](auto& t) { return t.join(); }));
}

INSTANTIATE_TEST_SUITE_P(workers, io_held, ::testing::Values(1, 2));

} // namespace
