// SPDX-License-Identifier: Apache-2.0
// Waits for descriptors that end otherwise: by a limit, by a close, by the end of the run time, and
// in a forked child; and what must not be taken for a deadlock.
#include "forked_child.hpp"
#include "io/reactor.hpp"
#include "io_fixture.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

using io_limits = io_calls;

TEST_P(io_limits, a_read_ends_when_the_time_is_up) {
    connected_pair both;
    char c = 0;
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(20ms)), -ETIMEDOUT);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
    EXPECT_EQ(io::write(both.theirs(), "a", 1), 1);
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(20s)), 1);
}

TEST_P(io_limits, a_limit_in_the_past_makes_a_try) {
    connected_pair both;
    char c = 0;
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(-1s)), -ETIMEDOUT);
    EXPECT_EQ(io::write(both.theirs(), "b", 1, wait_limit(-1s)), 1);
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(-1s)), 1);
}

// A loop over events with a limit, as many programs have it. Each wait woke another worker, which
// had nothing to do but to sleep until the same deadline.
TEST(io_limits_of_a_loop, wake_no_other_worker) {
    constexpr std::uint32_t k_events = 200;
    set_option("max_substitutes", "64");
    initialize({.workers = 2});
    connected_pair both;
    auto& idle = sched::scheduler::instance().idle();
    std::uint32_t least = k_events;
    for (int again = 0; again < 4 && least > k_events / 5; ++again) {
        std::thread sender([&] {
            for (std::uint32_t k = 0; k < k_events; ++k) {
                std::this_thread::sleep_for(500us);
                EXPECT_EQ(::write(both.theirs(), "e", 1), 1);
            }
        });
        std::uint32_t const before = idle.wakes();
        spawn([&] { // main waits for it, so that its worker sleeps
            char c = 0;
            for (std::uint32_t k = 0; k < k_events; ++k)
                EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(20s)), 1);
        })
            .join();
        least = std::min(least, idle.wakes() - before);
        sender.join();
    }
    EXPECT_LE(least, k_events / 5);
    finalize();
}

TEST_P(io_limits, a_wait_is_cancelled) {
    connected_pair both;
    cancellation_source source;
    auto reader = spawn([&] {
        char c = 0;
        return io::read(both.ours(), &c, 1, wait_limit(source.get_token()));
    });
    this_thread::sleep_for(2ms);
    source.request_stop();
    EXPECT_EQ(reader.join(), -ECANCELED);
    char c = 0;
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(source.get_token())), -ECANCELED);
}

TEST_P(io_limits, many_waits_of_one_descriptor_end_each_in_its_way) {
    connected_pair both;
    cancellation_source source;
    std::vector<thread<int>> waits;
    for (int k = 0; k < 30; ++k)
        waits.push_back(spawn([&, k] {
            switch (k % 3) {
                case 0: return io::wait_readable(both.ours(), wait_limit(5ms));
                case 1: return io::wait_readable(both.ours(), wait_limit(source.get_token()));
                default: return io::wait_readable(both.ours());
            }
        }));
    auto const expect_results = [&](int of, int expected) {
        for (int k = of; k < 30; k += 3)
            EXPECT_EQ(waits[static_cast<std::size_t>(k)].join(), expected) << k;
    };
    expect_results(0, -ETIMEDOUT);
    source.request_stop();
    expect_results(1, -ECANCELED);
    EXPECT_EQ(io::write(both.theirs(), "c", 1), 1);
    expect_results(2, 0);
}

TEST_P(io_limits, a_close_ends_waits) {
    connected_pair both;
    int const end = both.give_ours();
    auto reader = spawn([end] {
        char c = 0;
        return io::read(end, &c, 1);
    });
    auto other = spawn([end] { return io::wait_readable(end); });
    this_thread::sleep_for(2ms);
    EXPECT_EQ(io::close(end), 0);
    EXPECT_EQ(reader.join(), -EBADF);
    EXPECT_EQ(other.join(), -EBADF);
}

// close(2) says nothing to those that wait, so they must be gone; another file has the number next.
TEST_P(io_limits, a_number_goes_over_to_another_file) {
    for (int round = 0; round < 50; ++round) {
        connected_pair both;
        auto reader = spawn([&] {
            char c = 0;
            return io::read(both.ours(), &c, 1) == 1 ? int{c} : -1;
        });
        this_thread::yield();
        char const sent = static_cast<char>('A' + round % 26);
        EXPECT_EQ(io::write(both.theirs(), &sent, 1), 1);
        EXPECT_EQ(reader.join(), sent);
    }
}

// A read of the connection has found that there is no more, which says nothing of the next file.
TEST_P(io_limits, reads_with_short_limits_of_a_file_that_has_got_the_number) {
    tcp_listener const listener;
    tcp_client const client(listener);
    int const number = ::accept(listener.socket(), nullptr, nullptr);
    ASSERT_GE(number, 0);
    std::array<char, 16> got{};
    for (int round = 0; round < 6; ++round) { // so that it is looked after more rarely
        auto reader = spawn([&] { return io::read(number, got.data(), got.size()); });
        this_thread::sleep_for(2ms); // it waits by then, mostly
        EXPECT_EQ(::send(client.socket(), "1", 1, 0), 1);
        EXPECT_EQ(reader.join(), 1);
    }
    connected_pair next;
    ASSERT_EQ(::dup2(next.ours(), number), number);
    EXPECT_EQ(::send(next.theirs(), "2", 1, 0), 1);
    EXPECT_EQ(io::read(number, got.data(), got.size(), wait_limit(1ms)), 1);
    ::close(number);
}

TEST_P(io_limits, the_run_time_stops_and_starts_again) {
    for (int round = 0; round < 3; ++round) {
        connected_pair both;
        char c = 0;
        EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(1ms)), -ETIMEDOUT);
        EXPECT_FALSE(tulle::io::reactor::instance().is_awaited());
        finalize();
        initialize({.workers = GetParam()});
    }
}

// So many descriptors can be made now, until the end of the scope.
class few_descriptors {
public:
    explicit few_descriptors(int count) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &m_before), 0);
        rlimit few = m_before;
        few.rlim_cur = static_cast<rlim_t>(last_of(count)) + 1;
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    few_descriptors(few_descriptors const&) = delete;
    few_descriptors& operator=(few_descriptors const&) = delete;
    ~few_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &m_before), 0); }

private:
    // The highest number of so many that the system would make next.
    static int last_of(int count) {
        int const made = ::dup(0);
        EXPECT_GE(made, 0);
        int const last = count == 1 ? made : last_of(count - 1);
        ::close(made);
        return last;
    }
    rlimit m_before{};
};

// A server that takes connections until descriptors are short can still wait for all of them.
TEST_P(io_limits, accepted_connections_leave_the_descriptors_that_waiting_needs) {
    tcp_listener const listener;
    tcp_client const first(listener);
    tcp_client const second(listener);
    int accepted = -1;
    {
        few_descriptors const limit(1);
        ASSERT_EQ(io::accept(listener.socket(), nullptr, nullptr), -EMFILE);
    }
    {
        few_descriptors const limit(3);
        accepted = io::accept(listener.socket(), nullptr, nullptr);
        EXPECT_GE(accepted, 0);
        EXPECT_EQ(io::accept(listener.socket(), nullptr, nullptr), -EMFILE);
        char c = 0;
        EXPECT_EQ(io::read(accepted, &c, 1, wait_limit(1ms)), -ETIMEDOUT);
        EXPECT_EQ(::send(first.socket(), "f", 1, 0), 1);
        EXPECT_EQ(io::read(accepted, &c, 1, wait_limit(20s)), 1);
    }
    ::close(accepted);
}

TEST_P(io_limits, a_forked_child_waits_by_itself) {
    if (!k_child_may_start_threads || !k_may_fork_beside_threads)
        GTEST_SKIP() << "not under this sanitizer";
    connected_pair both;
    char c = 0;
    begin_to_wait(both.ours());
    EXPECT_EQ(io::fsync(both.ours()), -EINVAL); // so have its helpers, who make this call
    pid_t const child = ::fork();
    if (child == 0) {
        alarm(50);
        connected_pair own;
        auto reader = spawn([&] { return io::read(own.ours(), &c, 1); });
        this_thread::yield();
        bool const good = io::write(own.theirs(), "d", 1) == 1 && reader.join() == 1 &&
                          io::fsync(own.ours()) == -EINVAL;
        _exit(good ? 0 : 1);
    }
    auto reader = spawn([&] { return io::read(both.ours(), &c, 1); });
    int status = -1;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
    EXPECT_EQ(status, 0);
    EXPECT_EQ(io::write(both.theirs(), "e", 1), 1);
    EXPECT_EQ(reader.join(), 1);
}

INSTANTIATE_TEST_SUITE_P(workers, io_limits, ::testing::Values(1, 2));

TEST(io_deadlock, a_thread_that_waits_for_input_is_none) {
    set_option("deadlock_ms", "20");
    initialize({.workers = 2});
    connected_pair both;
    std::thread writer([&] { // foreign to the run time
        std::this_thread::sleep_for(300ms);
        EXPECT_EQ(::write(both.theirs(), "f", 1), 1);
    });
    char c = 0;
    EXPECT_EQ(io::read(both.ours(), &c, 1), 1);
    writer.join();
    finalize();
    set_option("deadlock_ms", "1000");
}

TEST(io_deterministic, a_limit_passes_in_virtual_time) {
    set_option("seed", "7");
    initialize({.workers = 1});
    connected_pair both;
    char c = 0;
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(1h)), -ETIMEDOUT);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1min);
    EXPECT_EQ(io::write(both.theirs(), "g", 1), 1);
    EXPECT_EQ(io::read(both.ours(), &c, 1), 1);
    EXPECT_EQ(io::wait_readable(-1), -EBADF);
    finalize();
    set_option("seed", "0");
}

} // namespace
