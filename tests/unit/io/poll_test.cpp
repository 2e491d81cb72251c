// SPDX-License-Identifier: Apache-2.0
// Waits for one of several descriptors.
#include "io_fixture.hpp"

#include <tulle/io.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include <fcntl.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

using io_poll = io_calls;

TEST_P(io_poll, the_one_that_becomes_ready_is_told) {
    constexpr std::size_t k_pairs = 40;
    std::vector<connected_pair> pairs(k_pairs);
    for (std::size_t round = 0; round < k_pairs; round += 3) {
        auto waiter = spawn([&] {
            std::vector<pollfd> asked;
            for (auto const& p : pairs) asked.push_back({p.ours(), POLLIN, 0});
            int const found = io::poll(asked.data(), asked.size());
            for (std::size_t k = 0; k < k_pairs; ++k) {
                if (asked[k].revents != 0) return found == 1 ? static_cast<int>(k) : -2;
            }
            return -1;
        });
        this_thread::sleep_for(1ms);
        EXPECT_EQ(io::write(pairs[round].theirs(), "p", 1), 1);
        EXPECT_EQ(waiter.join(), static_cast<int>(round));
        char c = 0;
        EXPECT_EQ(io::read(pairs[round].ours(), &c, 1), 1);
    }
}

// Nothing urgent ever comes to a regular file, of which an epoll does not know.
TEST_P(io_poll, a_file_that_never_becomes_ready_is_waited_for_beside_others) {
    connected_pair both;
    int const file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    auto waiter = spawn([&] {
        std::array<pollfd, 2> asked{{{file, POLLPRI, 0}, {both.ours(), POLLIN, 0}}};
        int const found = io::poll(asked.data(), asked.size());
        return found == 1 && asked[1].revents == POLLIN;
    });
    this_thread::sleep_for(5ms);
    EXPECT_EQ(io::write(both.theirs(), "p", 1), 1);
    EXPECT_TRUE(waiter.join());
    pollfd alone{file, POLLPRI, 0};
    EXPECT_EQ(io::poll(&alone, 1, wait_limit(2ms)), 0);
    ::close(file);
}

TEST_P(io_poll, limits_and_what_is_ready_already) {
    connected_pair both;
    std::array<pollfd, 3> asked{{{both.ours(), POLLIN, 0}, {-1, POLLIN, 0}, {both.ours(), 0, 0}}};
    EXPECT_EQ(io::poll(asked.data(), 3, wait_limit(5ms)), 0);
    EXPECT_EQ(io::poll(asked.data(), 3, wait_limit(-1s)), 0);
    EXPECT_EQ(io::poll(nullptr, 0, wait_limit(1ms)), 0);
    asked[1] = {both.theirs(), POLLOUT, 0};
    EXPECT_EQ(io::poll(asked.data(), 3), 1);
    EXPECT_EQ(asked[1].revents, POLLOUT);
    cancellation_source source;
    auto waiter = spawn([&] {
        pollfd one{both.ours(), POLLIN, 0};
        return io::poll(&one, 1, wait_limit(source.get_token()));
    });
    this_thread::sleep_for(2ms);
    source.request_stop();
    EXPECT_EQ(waiter.join(), -ECANCELED);
    pollfd closed{1 << 19, POLLIN, 0};
    EXPECT_EQ(io::poll(&closed, 1), 1);
    EXPECT_EQ(closed.revents, POLLNVAL);
}

TEST_P(io_poll, one_number_may_be_asked_about_twice) {
    connected_pair both;
    auto waiter = spawn([&] {
        std::array<pollfd, 2> asked{{{both.ours(), POLLPRI, 0}, {both.ours(), POLLIN, 0}}};
        int const found = io::poll(asked.data(), 2);
        return found == 1 && asked[0].revents == 0 && asked[1].revents == POLLIN;
    });
    this_thread::sleep_for(1ms);
    EXPECT_EQ(io::write(both.theirs(), "t", 1), 1);
    EXPECT_TRUE(waiter.join());
}

TEST_P(io_poll, sets_are_selected_from) {
    connected_pair both, other;
    auto waiter = spawn([&] {
        fd_set in, out;
        FD_ZERO(&in);
        FD_ZERO(&out);
        FD_SET(both.ours(), &in);
        FD_SET(other.ours(), &in);
        int const found = io::select(FD_SETSIZE, &in, nullptr, nullptr);
        return found == 1 && FD_ISSET(other.ours(), &in) && !FD_ISSET(both.ours(), &in);
    });
    this_thread::sleep_for(1ms);
    EXPECT_EQ(io::write(other.theirs(), "s", 1), 1);
    EXPECT_TRUE(waiter.join());
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(both.ours(), &in);
    FD_SET(both.ours(), &out);
    EXPECT_EQ(io::select(both.ours() + 1, &in, &out, nullptr, wait_limit(1s)), 1);
    EXPECT_TRUE(FD_ISSET(both.ours(), &out));
    EXPECT_FALSE(FD_ISSET(both.ours(), &in));
    FD_SET(both.ours(), &in);
    EXPECT_EQ(io::select(both.ours() + 1, &in, nullptr, nullptr, wait_limit(2ms)), 0);
    EXPECT_FALSE(FD_ISSET(both.ours(), &in));
    EXPECT_EQ(io::select(FD_SETSIZE + 1, &in, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(io::select(-1, &in, nullptr, nullptr), -EINVAL);
    FD_SET(1000, &in);
    EXPECT_EQ(io::select(1001, &in, nullptr, nullptr), -EBADF);
}

// poll(2) tells of it all the time, and select(2) does not.
TEST_P(io_poll, an_end_of_which_nobody_has_asked_is_waited_over) {
    connected_pair both;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ::close(ends[1]);
    fd_set in, except;
    FD_ZERO(&in);
    FD_ZERO(&except);
    FD_SET(ends[0], &except);
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_EQ(io::select(FD_SETSIZE, nullptr, nullptr, &except, wait_limit(20ms)), 0);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
    EXPECT_FALSE(FD_ISSET(ends[0], &except));
    auto waiter = spawn([&] {
        FD_SET(ends[0], &except);
        FD_SET(both.ours(), &in);
        return io::select(FD_SETSIZE, &in, nullptr, &except);
    });
    this_thread::sleep_for(2ms); // it waits by then, mostly
    EXPECT_EQ(io::write(both.theirs(), "s", 1), 1);
    EXPECT_EQ(waiter.join(), 1);
    EXPECT_TRUE(FD_ISSET(both.ours(), &in));
    EXPECT_FALSE(FD_ISSET(ends[0], &except));
    FD_ZERO(&in);
    FD_SET(ends[0], &in);
    EXPECT_EQ(io::select(FD_SETSIZE, &in, nullptr, nullptr), 1);
    ::close(ends[0]);
}

INSTANTIATE_TEST_SUITE_P(workers, io_poll, ::testing::Values(1, 2));

} // namespace
