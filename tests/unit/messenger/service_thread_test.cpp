// SPDX-License-Identifier: Apache-2.0
// OS threads of the library's own run no handlers of the program: a handler is one more thread of
// the program where it runs beside the one that it would have interrupted.
#include "loopback_places.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct os_thread {
    int id;
    std::string name;
    std::uint64_t blocked; // signal n: bit n - 1
};

std::string line_of(std::filesystem::path const& file, std::string const& start) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(start)) return line.substr(start.size());
    return {};
}

bool blocks(os_thread const& t, int signal) { return (t.blocked >> (signal - 1) & 1U) != 0; }

// The C library blocks all signals of an OS thread until it begins.
std::vector<os_thread> service_threads_once() {
    std::vector<os_thread> found;
    for (auto const& each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string const name = line_of(each.path() / "comm", "");
        if (name != "tulle-service") continue;
        os_thread const one{std::stoi(each.path().filename()), name,
                            std::stoull(line_of(each.path() / "status", "SigBlk:"), nullptr, 16)};
        if (!blocks(one, SIGSEGV)) found.push_back(one);
    }
    return found;
}
std::vector<os_thread> service_threads() {
    std::vector<os_thread> found;
    for (int tries = 0; tries < 10'000 && found.size() < 2; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(tries == 0 ? 0 : 1));
        found = service_threads_once();
    }
    return found;
}

class service_thread : started, public testing::Test {
protected:
    loopback_places m_places{2};
};

std::atomic<int> s_handled{0};

TEST_F(service_thread, blocks_all_signals_but_those_of_its_own_faults) {
    auto const all = service_threads();
    ASSERT_EQ(all.size(), 2U);
    for (os_thread const& each : all) {
        for (int const one : {SIGHUP, SIGINT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGIO,
                              SIGVTALRM, SIGPROF, SIGURG, SIGWINCH, SIGRTMIN, SIGRTMAX})
            EXPECT_TRUE(blocks(each, one)) << one;
        for (int const one : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP})
            EXPECT_FALSE(blocks(each, one)) << one;
    }
}

// A signal that it is sent itself stays pending.
TEST_F(service_thread, runs_no_handler) {
    using action = struct sigaction;
    action handle{};
    action before{};
    handle.sa_handler = [](int) { ++s_handled; };
    ASSERT_EQ(sigaction(SIGUSR1, &handle, &before), 0);
    auto const all = service_threads();
    ASSERT_EQ(all.size(), 2U);
    for (os_thread const& each : all) EXPECT_EQ(syscall(SYS_tgkill, getpid(), each.id, SIGUSR1), 0);
    for (int k = 0; k < 50; ++k) tulle::at(tulle::place(1), [] {});
    EXPECT_EQ(s_handled.load(), 0);
    ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

} // namespace
