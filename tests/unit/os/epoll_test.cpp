// SPDX-License-Identifier: Apache-2.0
#include "os/epoll.hpp"

#include "emulated.hpp"
#include "forbidden_call.hpp"
#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace tulle;

// True: such a wait ends when there is input, and else not before its time.
bool waits_until_deadlines() {
    std::array<int, 2> ends{};
    os::epoll waits;
    if (::pipe(ends.data()) != 0 || waits.open() != 0) return false;
    bool good = waits.add(ends[0], EPOLLIN, &ends) == 0;
    std::array<epoll_event, 4> found{};
    for (std::uint64_t const ns : {0U, 1'000U, 300'000U, 2'500'000U}) {
        std::uint64_t const end = os::monotonic_ns() + ns;
        good = good && waits.wait_until(found, end) == 0 && os::monotonic_ns() >= end;
    }
    good = good && ::write(ends[1], "i", 1) == 1;
    for (std::uint64_t const end :
         {std::uint64_t{0}, os::monotonic_ns() + 50'000'000'000U, os::k_no_deadline})
        good = good && waits.wait_until(found, end) == 1 && found[0].data.ptr == &ends;
    waits.remove(ends[0]);
    good = good && waits.wait_until(found, 0) == 0;
    for (int const end : ends) ::close(end);
    return good;
}

TEST(epoll, waits_until_a_time) { EXPECT_TRUE(waits_until_deadlines()); }

// Kernels before 5.11, and sandboxes.
TEST(epoll, waits_until_a_time_where_only_milliseconds_are_counted) {
    TULLE_SKIP_IF_EMULATED("filters of system calls");
#ifdef SYS_epoll_pwait2
    EXPECT_EXIT(
        {
            forbid_system_call(SYS_epoll_pwait2, ENOSYS);
            std::_Exit(waits_until_deadlines() ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
#else
    GTEST_SKIP() << "the system's headers know of nothing else";
#endif
}

} // namespace
