// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/task_state.hpp"
#include "os/thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {
namespace {

using kind = task_state::kind;

task_state::view parse_syscall(std::string_view line) {
    return parse_syscall_line(line.data(), line.size());
}
task_state::view parse_stat(std::string_view line) {
    return parse_stat_line(line.data(), line.size());
}

TEST(task_state, lines_of_syscall) {
    EXPECT_EQ(parse_syscall("running\n").state, kind::computes);
    EXPECT_EQ(parse_syscall("0 0x3 0x7ffc 0x1 0x0 0x0 0x0 0x7ffd 0x7f11\n").state, kind::in_kernel);
    EXPECT_EQ(parse_syscall("230 0x1 0x1\n").call, 230);
    EXPECT_EQ(parse_syscall("-1 0x7ffd 0x7f11\n").state, kind::in_kernel);
    EXPECT_EQ(parse_syscall("").state, kind::unknown);
    EXPECT_EQ(parse_syscall("what").state, kind::unknown);
}

TEST(task_state, lines_of_stat) {
    EXPECT_EQ(parse_stat("12 (tulle-1) R 1 2").state, kind::computes);
    EXPECT_EQ(parse_stat("12 (tulle-1) S 1 2").state, kind::in_kernel);
    EXPECT_EQ(parse_stat("12 (a) R (b)) D 1 2").state, kind::in_kernel); // a name may be anything
    EXPECT_EQ(parse_stat("12 (tulle-1) Z 1 2").state, kind::unknown);
    EXPECT_EQ(parse_stat("12 (tulle-1)").state, kind::unknown);
    EXPECT_EQ(parse_stat("").state, kind::unknown);
}

TEST(task_state, of_a_thread_that_reads_and_then_computes) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::atomic<int> tid{0};
    std::atomic<bool> computes{false}, done{false};
    std::thread observed([&] {
        tid = thread_id();
        char byte = 0;
        static_cast<void>(!::read(ends[0], &byte, 1));
        computes = true;
        while (!done) {}
    });
    while (tid == 0) std::this_thread::yield();
    task_state task;
    auto const await = [&task, &tid](kind wanted) {
        task_state::view seen;
        for (int k = 0; k < 2000 && seen.state != wanted; ++k) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            seen = task.read(tid);
        }
        return seen;
    };
    auto const reading = await(kind::in_kernel);
    EXPECT_EQ(reading.state, kind::in_kernel);
    // Some kernels tell the state only; the call is one of the system under an emulator.
    if (reading.call >= 0 && !is_emulated()) {
        EXPECT_EQ(reading.call, SYS_read);
        EXPECT_EQ(name_of_call(reading.call), std::string_view("read"));
    }
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
    while (!computes) std::this_thread::yield();
    EXPECT_EQ(await(kind::computes).state, kind::computes);
    done = true;
    observed.join();
    EXPECT_EQ(await(kind::unknown).state, kind::unknown); // it is gone
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(task_state, of_nobody) {
    task_state task;
    EXPECT_EQ(task.read(0).state, kind::unknown);
    EXPECT_EQ(name_of_call(-1), nullptr);
}

} // namespace
} // namespace tulle::os
