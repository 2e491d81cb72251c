// SPDX-License-Identifier: Apache-2.0
// Waits for one of several descriptors.
#include "io_fixture.hpp"
#include "open_descriptors.hpp"

#include <tulle/io.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

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

constexpr std::size_t k_several = 4;
using several_pairs = std::array<connected_pair, k_several>;

std::array<pollfd, k_several> inputs_of(several_pairs const& pairs) {
    std::array<pollfd, k_several> asked{};
    for (std::size_t k = 0; k < k_several; ++k) asked[k] = {pairs[k].ours(), POLLIN, 0};
    return asked;
}

TEST_P(io_poll, several_are_waited_for_without_a_descriptor_of_the_calls_own) {
    several_pairs pairs;
    begin_to_wait(pairs[0].ours());
    auto const before = open_descriptors();
    for (std::size_t ready = 0; ready < k_several; ++ready) {
        auto waiter = spawn([&] {
            auto asked = inputs_of(pairs);
            return io::poll(asked.data(), asked.size()) == 1 && asked[ready].revents == POLLIN;
        });
        this_thread::sleep_for(2ms);
        EXPECT_EQ(open_descriptors(), before);
        EXPECT_EQ(io::write(pairs[ready].theirs(), "p", 1), 1);
        EXPECT_TRUE(waiter.join());
        char c = 0;
        EXPECT_EQ(io::read(pairs[ready].ours(), &c, 1), 1);
    }
}

TEST_P(io_poll, room_is_waited_for_beside_input) {
    connected_pair full, silent;
    std::array<char, 4096> some{};
    std::size_t size = 0;
    ssize_t sent = 0;
    while ((sent = ::send(full.ours(), some.data(), some.size(), MSG_DONTWAIT)) > 0)
        size += static_cast<std::size_t>(sent);
    auto waiter = spawn([&] {
        std::array<pollfd, 2> asked{
            {{full.ours(), POLLIN | POLLOUT, 0}, {silent.ours(), POLLIN, 0}}};
        return io::poll(asked.data(), asked.size()) == 1 && asked[0].revents == POLLOUT;
    });
    this_thread::sleep_for(2ms);
    while (size != 0) {
        ssize_t const got = io::read(full.theirs(), some.data(), some.size());
        ASSERT_GT(got, 0);
        size -= static_cast<std::size_t>(got);
    }
    EXPECT_TRUE(waiter.join());
}

TEST_P(io_poll, one_of_several_that_is_closed_ends_the_wait) {
    several_pairs pairs;
    int const closed = pairs[2].give_ours();
    auto waiter = spawn([&] {
        auto asked = inputs_of(pairs);
        asked[2].fd = closed;
        return io::poll(asked.data(), asked.size()) == 1 && asked[2].revents == POLLNVAL;
    });
    this_thread::sleep_for(2ms);
    EXPECT_EQ(io::close(closed), 0);
    EXPECT_TRUE(waiter.join());
}

// Bytes come at all of them at once, to two threads that wait for the same ones, and limits are
// over meanwhile: each byte is found.
TEST_P(io_poll, events_at_several_descriptors_and_limits_race) {
    constexpr int k_bytes = 500;
    several_pairs pairs;
    for (auto const& p : pairs) ASSERT_EQ(::fcntl(p.ours(), F_SETFL, O_NONBLOCK), 0);
    std::atomic<int> found{0}, over{0};
    auto const take_all = [&] {
        while (found.load() != k_bytes * static_cast<int>(k_several)) {
            auto asked = inputs_of(pairs);
            int const result = io::poll(asked.data(), asked.size(), wait_limit(50us));
            if (result == 0) over.fetch_add(1);
            for (pollfd const& p : asked) {
                char c = 0;
                if (p.revents != 0 && ::read(p.fd, &c, 1) == 1) found.fetch_add(1);
            }
        }
    };
    auto first = spawn(take_all), second = spawn(take_all);
    std::vector<thread<void>> writers;
    for (auto const& p : pairs) {
        writers.push_back(spawn([&p] {
            for (int k = 0; k != k_bytes; ++k) {
                EXPECT_EQ(io::write(p.theirs(), "e", 1), 1);
                if (k % 8 == 0) this_thread::sleep_for(30us);
            }
        }));
    }
    for (auto& w : writers) w.join();
    first.join();
    second.join();
    EXPECT_EQ(found.load(), k_bytes * static_cast<int>(k_several));
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

// The system lets a file be in 500 epolls that are themselves in one.
TEST_P(io_poll, very_many_threads_wait_for_one_file_beside_others) {
    connected_pair never, all;
    auto const ask = [&] {
        std::array<pollfd, 2> asked{{{never.ours(), POLLIN, 0}, {all.ours(), POLLIN, 0}}};
        return io::poll(asked.data(), asked.size()) == 1 && asked[1].revents == POLLIN;
    };
    std::vector<decltype(spawn(ask))> waiters;
    for (int k = 0; k < 700; ++k) waiters.push_back(spawn(ask));
    this_thread::sleep_for(20ms);
    EXPECT_EQ(io::write(all.theirs(), "p", 1), 1);
    for (auto& each : waiters) EXPECT_TRUE(each.join());
}

// Of what several ask for each gets its own, though the epoll has one entry for all.
TEST_P(io_poll, threads_ask_for_different_events_of_one_file) {
    connected_pair both;
    std::array<char, 4096> block{};
    while (::send(both.ours(), block.data(), block.size(), MSG_DONTWAIT) > 0) {}
    auto const ask = [&](short events) {
        pollfd asked{both.ours(), events, 0};
        return io::poll(&asked, 1) == 1 ? asked.revents : short{0};
    };
    auto reader = spawn([&] { return ask(POLLIN); });
    auto writer = spawn([&] { return ask(POLLOUT); });
    auto ended = spawn([&] { return ask(0); });
    this_thread::sleep_for(2ms);
    EXPECT_EQ(io::write(both.theirs(), "r", 1), 1);
    EXPECT_EQ(reader.join(), POLLIN);
    while (::recv(both.theirs(), block.data(), block.size(), MSG_DONTWAIT) > 0) {}
    EXPECT_EQ(writer.join(), POLLOUT);
    EXPECT_EQ(::shutdown(both.ours(), SHUT_RDWR), 0);
    EXPECT_NE(ended.join() & POLLHUP, 0);
}

TEST_P(io_poll, urgent_data_is_told) {
    tcp_listener const listener;
    tcp_client const theirs(listener);
    int const ours = io::accept(listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
    ASSERT_GE(ours, 0);
    auto waiter = spawn([&] {
        pollfd asked{ours, POLLPRI, 0};
        return io::poll(&asked, 1) == 1 && asked.revents == POLLPRI;
    });
    this_thread::sleep_for(2ms);
    EXPECT_EQ(::send(theirs.socket(), "o", 1, 0), 1); // which nobody has asked for
    this_thread::sleep_for(2ms);
    EXPECT_EQ(::send(theirs.socket(), "u", 1, MSG_OOB), 1);
    EXPECT_TRUE(waiter.join());
    EXPECT_EQ(io::close(ours), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, io_poll, ::testing::Values(1, 2));

} // namespace
