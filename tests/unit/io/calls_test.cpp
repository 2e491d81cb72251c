// SPDX-License-Identifier: Apache-2.0
// Calls on descriptors that block only the calling thread.
#include "io_fixture.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

TEST_P(io_calls, a_thread_that_waits_for_input_lets_others_run) {
    connected_pair both;
    std::atomic<bool> reads{false};
    auto reader = spawn([&] {
        char c = 0;
        reads.store(true, std::memory_order_release);
        ssize_t const count = io::read(both.ours(), &c, 1);
        return count == 1 ? c : '!';
    });
    while (!reads.load(std::memory_order_acquire)) this_thread::yield();
    for (int k = 0; k < 100; ++k) this_thread::yield(); // with one worker it waits by now
    EXPECT_EQ(io::write(both.theirs(), "x", 1), 1);
    EXPECT_EQ(reader.join(), 'x');
}

TEST_P(io_calls, all_workers_may_sleep_meanwhile) {
    connected_pair both;
    std::thread writer([&] {
        std::this_thread::sleep_for(50ms);
        EXPECT_EQ(::write(both.theirs(), "y", 1), 1);
    });
    char c = 0;
    EXPECT_EQ(io::read(both.ours(), &c, 1), 1);
    EXPECT_EQ(c, 'y');
    writer.join();
}

TEST_P(io_calls, a_foreign_thread_waits_as_well) {
    connected_pair both;
    char c = 0;
    std::thread reader([&] { EXPECT_EQ(io::read(both.ours(), &c, 1), 1); });
    this_thread::sleep_for(20ms);
    EXPECT_EQ(io::write(both.theirs(), "z", 1), 1);
    // Its OS thread may be the only one that could run main.
    std::atomic<bool> joined{false};
    std::thread([&] {
        reader.join();
        joined.store(true, std::memory_order_release);
    }).detach();
    while (!joined.load(std::memory_order_acquire)) this_thread::sleep_for(1ms);
    EXPECT_EQ(c, 'z');
}

TEST_P(io_calls, input_is_noticed_while_workers_compute) {
    connected_pair both;
    std::atomic<bool> has_read{false};
    auto reader = spawn([&] {
        char c = 0;
        EXPECT_EQ(io::read(both.ours(), &c, 1), 1);
        has_read.store(true, std::memory_order_release);
    });
    std::vector<thread<void>> busy;
    for (int k = 0; k < GetParam(); ++k)
        busy.push_back(spawn([&] {
            while (!has_read.load(std::memory_order_acquire)) this_thread::yield();
        }));
    this_thread::sleep_for(5ms);
    EXPECT_EQ(io::write(both.theirs(), "w", 1), 1);
    reader.join();
    for (auto& t : busy) t.join();
}

// Each way is full at times, so both sides wait for both directions.
TEST_P(io_calls, all_bytes_arrive_in_order_both_ways) {
    connected_pair both;
    std::vector<unsigned char> sent(1U << 20U);
    std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
    auto const send_all = [&](int socket) {
        for (std::size_t done = 0; done < sent.size();) {
            ssize_t const n = io::write(socket, &sent[done], sent.size() - done);
            if (n <= 0) return n;
            done += static_cast<std::size_t>(n);
        }
        return ssize_t{0};
    };
    auto const receive_all = [&](int socket) {
        std::vector<unsigned char> got(sent.size());
        for (std::size_t done = 0; done < got.size();) {
            ssize_t const n =
                io::read(socket, &got[done], std::min<std::size_t>(got.size() - done, 5000));
            if (n <= 0) return false;
            done += static_cast<std::size_t>(n);
        }
        return got == sent;
    };
    auto to = spawn([&] { return send_all(both.ours()); });
    auto from = spawn([&] { return send_all(both.theirs()); });
    auto at_theirs = spawn([&] { return receive_all(both.theirs()); });
    auto at_ours = spawn([&] { return receive_all(both.ours()); });
    EXPECT_EQ(to.join(), 0);
    EXPECT_EQ(from.join(), 0);
    EXPECT_TRUE(at_theirs.join());
    EXPECT_TRUE(at_ours.join());
}

TEST_P(io_calls, pipes_take_parts) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    auto reader = spawn([&] {
        std::array<char, 3> first{}, second{};
        std::array<iovec, 2> const parts{{{first.data(), 3}, {second.data(), 3}}};
        ssize_t const count = io::readv(ends[0], parts.data(), 2);
        return std::to_string(count) + std::string(first.data(), 3) + std::string(second.data(), 3);
    });
    this_thread::sleep_for(1ms);
    std::string one = "abc", two = "def";
    std::array<iovec, 2> const parts{{{one.data(), 3}, {two.data(), 3}}};
    EXPECT_EQ(io::writev(ends[1], parts.data(), 2), 6);
    EXPECT_EQ(reader.join(), "6abcdef");
    EXPECT_EQ(io::close(ends[1]), 0);
    char c = 0;
    EXPECT_EQ(io::read(ends[0], &c, 1), 0); // the end
    EXPECT_EQ(io::close(ends[0]), 0);
}

TEST_P(io_calls, a_closed_peer_ends_waits_both_ways) {
    connected_pair both;
    auto reader = spawn([&] {
        char c = 0;
        return io::recv(both.ours(), &c, 1, 0);
    });
    std::vector<char> much(1U << 20U);
    auto writer = spawn([&] {
        ssize_t n = 0;
        while ((n = io::send(both.ours(), much.data(), much.size(), MSG_NOSIGNAL)) > 0) {}
        return n;
    });
    this_thread::sleep_for(5ms);
    both.close_theirs();
    EXPECT_LE(reader.join(), 0); // the end, or a reset
    ssize_t const why = writer.join();
    EXPECT_TRUE(why == -EPIPE || why == -ECONNRESET) << why;
}

// A server and its clients, each connection with a thread at both ends.
TEST_P(io_calls, many_connections_over_tcp) {
    constexpr int k_clients = 64;
    tcp_listener const listener;
    auto server = spawn([&] {
        std::vector<thread<void>> serving;
        for (int k = 0; k < k_clients; ++k) {
            int const s = io::accept(listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
            EXPECT_GE(s, 0) << std::strerror(-s);
            serving.push_back(spawn([s] {
                std::array<char, 64> buffer{};
                ssize_t n = 0;
                while ((n = io::read(s, buffer.data(), buffer.size())) > 0)
                    EXPECT_EQ(io::write(s, buffer.data(), static_cast<std::size_t>(n)), n);
                EXPECT_EQ(n, 0);
                io::close(s);
            }));
        }
        for (auto& t : serving) t.join();
    });
    std::vector<thread<void>> clients;
    for (int k = 0; k < k_clients; ++k) {
        clients.push_back(spawn([&listener, k] {
            int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            sockaddr_in const to = listener.address();
            EXPECT_EQ(io::connect(s, reinterpret_cast<sockaddr const*>(&to), sizeof to), 0);
            for (int round = 0; round < 20; ++round) {
                int const sent = 1000 * k + round;
                int got = -1;
                EXPECT_EQ(io::write(s, &sent, sizeof sent), static_cast<ssize_t>(sizeof sent));
                EXPECT_EQ(io::recv(s, &got, sizeof got, MSG_WAITALL),
                          static_cast<ssize_t>(sizeof got));
                EXPECT_EQ(got, sent);
            }
            EXPECT_EQ(::fcntl(s, F_GETFL) & O_NONBLOCK, 0); // as it was
            io::close(s);
        }));
    }
    for (auto& t : clients) t.join();
    server.join();
}

// Takes clients that others have seen come, as another process may: then a helper of theirs waits
// in the system until the next one comes.
class thief {
public:
    explicit thief(tcp_listener const& victim) : m_victim(victim), m_thread([this] { run(); }) {}
    thief(thief const&) = delete;
    thief& operator=(thief const&) = delete;
    ~thief() {
        m_ends = true;
        while (!m_has_ended) {
            tcp_client const last(m_victim); // it may wait for one
            this_thread::sleep_for(1ms);
        }
        m_thread.join();
    }

private:
    void run() {
        while (!m_ends) {
            pollfd asked{m_victim.socket(), POLLIN, 0};
            if (::poll(&asked, 1, 0) > 0)
                ::close(::accept4(m_victim.socket(), nullptr, nullptr, SOCK_CLOEXEC));
        }
        m_has_ended = true;
    }

    tcp_listener const& m_victim;
    std::atomic<bool> m_ends{false}, m_has_ended{false};
    std::thread m_thread;
};

TEST_P(io_calls, a_client_that_another_process_takes_holds_up_no_other_socket) {
    constexpr int k_rounds = 100;
    tcp_listener const first, second;
    int const number = first.socket() + 16; // which once had a lock in common with the first
    ASSERT_LT(::fcntl(number, F_GETFD), 0);
    ASSERT_EQ(::dup3(second.socket(), number, O_CLOEXEC), number);
    std::atomic<bool> ends{false};
    std::atomic<int> accepted{0};
    auto of_first = spawn([&] {
        while (!ends) ::close(io::accept(first.socket(), nullptr, nullptr, SOCK_CLOEXEC));
    });
    auto of_second = spawn([&] {
        for (; accepted < k_rounds; ++accepted)
            ::close(io::accept(number, nullptr, nullptr, SOCK_CLOEXEC));
    });
    {
        thief const other(first);
        for (int round = 0; round < k_rounds; ++round) {
            tcp_client const of_both(first);
            this_thread::sleep_for(500us); // a helper may see it come, and the thief take it
            tcp_client const own(second);
            auto const end = std::chrono::steady_clock::now() + 20s;
            while (accepted == round && std::chrono::steady_clock::now() < end)
                this_thread::sleep_for(100us);
            EXPECT_EQ(accepted, round + 1);
            if (accepted == round) tcp_client const lets_it_go_on(first);
            while (accepted == round) this_thread::sleep_for(1ms);
        }
    }
    ends = true;
    tcp_client const last(first);
    of_first.join();
    of_second.join();
    ::close(number);
}

TEST_P(io_calls, all_that_is_asked_for_is_waited_for) {
    connected_pair both;
    auto writer = spawn([&] {
        for (char const* const part : {"ab", "cde", "fgh", "ij", "klm", "no"}) {
            this_thread::sleep_for(1ms); // so that they come in parts
            EXPECT_EQ(io::write(both.theirs(), part, std::strlen(part)),
                      static_cast<ssize_t>(std::strlen(part)));
        }
        both.close_theirs();
    });
    std::array<char, 8> got{};
    EXPECT_EQ(io::recv(both.ours(), got.data(), 4, MSG_WAITALL), 4);
    EXPECT_EQ(io::recvfrom(both.ours(), got.data() + 4, 3, MSG_WAITALL, nullptr, nullptr), 3);
    EXPECT_EQ(std::string(got.data(), 7), "abcdefg");
    std::array<char, 3> first{}, second{};
    std::array<iovec, 3> parts{{{first.data(), 3}, {nullptr, 0}, {second.data(), 3}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    EXPECT_EQ(io::recvmsg(both.ours(), &message, MSG_WAITALL), 6);
    EXPECT_EQ(std::string(first.data(), 3) + std::string(second.data(), 3), "hijklm");
    EXPECT_EQ(io::recv(both.ours(), got.data(), 8, MSG_WAITALL), 2); // the end comes first
    EXPECT_EQ(io::recv(both.ours(), got.data(), 8, MSG_WAITALL), 0);
    writer.join();
}

TEST_P(io_calls, what_has_come_before_a_limit_is_not_lost) {
    connected_pair both;
    std::array<char, 8> got{};
    EXPECT_EQ(io::write(both.theirs(), "abc", 3), 3);
    EXPECT_EQ(io::recv(both.ours(), got.data(), 8, MSG_WAITALL, wait_limit(2ms)), 3);
    EXPECT_EQ(io::recv(both.ours(), got.data(), 8, MSG_WAITALL, wait_limit(2ms)), -ETIMEDOUT);
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    EXPECT_EQ(io::send(ends[1], "d", 1, 0), 1);
    EXPECT_EQ(io::recv(ends[0], got.data(), 8, MSG_WAITALL), 1); // a message is one
    for (int const end : ends) ::close(end);
}

TEST_P(io_calls, parts_that_are_nowhere) {
    connected_pair both;
    char c = 0;
    for (int round = 0; round < 2; ++round) { // then it is known to be a socket
        EXPECT_EQ(io::readv(both.ours(), nullptr, 1), -EFAULT);
        EXPECT_EQ(io::writev(both.ours(), nullptr, 1), -EFAULT);
        EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(1ms)), -ETIMEDOUT);
    }
    EXPECT_EQ(io::readv(both.ours(), nullptr, 0), 0);
    EXPECT_EQ(io::writev(both.ours(), nullptr, -1), -EINVAL);
}

TEST_P(io_calls, messages_carry_descriptors) {
    connected_pair both;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    auto receiver = spawn([&] {
        char c = 0;
        iovec part{&c, 1};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (io::recvmsg(both.ours(), &message, 0) != 1) return -1;
        int received = -1;
        std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
        return received;
    });
    char c = 'm';
    iovec part{&c, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &ends[1], sizeof(int));
    EXPECT_EQ(io::sendmsg(both.theirs(), &message, 0), 1);
    int const received = receiver.join();
    ASSERT_GE(received, 0);
    EXPECT_EQ(io::write(received, "p", 1), 1);
    EXPECT_EQ(io::read(ends[0], &c, 1), 1);
    EXPECT_EQ(c, 'p');
    for (int const d : {received, ends[0], ends[1]}) io::close(d);
}

TEST_P(io_calls, regular_files_are_read_and_written) {
    int const file = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) GTEST_SKIP() << "no files without a name here";
    EXPECT_EQ(io::write(file, "kept", 4), 4);
    ASSERT_EQ(::lseek(file, 0, SEEK_SET), 0);
    std::array<char, 8> read{};
    EXPECT_EQ(io::read(file, read.data(), read.size()), 4);
    EXPECT_STREQ(read.data(), "kept");
    EXPECT_EQ(io::close(file), 0);
}

// All are told of a byte that one of them takes.
TEST_P(io_calls, who_waits_until_it_is_readable_waits_on_if_others_have_read_it) {
    if (GetParam() != 1) GTEST_SKIP() << "on two workers they may read at the same time";
    connected_pair both;
    std::vector<thread<ssize_t>> readers;
    for (int k = 0; k < 4; ++k)
        readers.push_back(spawn([&] {
            EXPECT_EQ(io::wait_readable(both.ours()), 0);
            char c = 0;
            return io::recv(both.ours(), &c, 1, MSG_DONTWAIT);
        }));
    for (int k = 0; k < 4; ++k) {
        this_thread::sleep_for(std::chrono::milliseconds(2));
        EXPECT_EQ(io::write(both.theirs(), "r", 1), 1);
    }
    for (auto& r : readers) EXPECT_EQ(r.join(), 1);
}

TEST_P(io_calls, errors_are_those_of_the_system) {
    char c = 0;
    EXPECT_EQ(io::read(-1, &c, 1), -EBADF);
    EXPECT_EQ(io::write(-1, &c, 1), -EBADF);
    EXPECT_EQ(io::wait_readable(-1), -EBADF);
    EXPECT_EQ(io::accept(-1, nullptr, nullptr), -EBADF);
    EXPECT_EQ(io::close(-1), -EBADF);
    connected_pair both;
    EXPECT_EQ(io::read(both.ours(), nullptr, 0), 0);
    EXPECT_EQ(io::accept(both.ours(), nullptr, nullptr, 0, wait_limit(1ms)), -ETIMEDOUT);
    EXPECT_EQ(io::recv(both.ours(), &c, 1, MSG_DONTWAIT), -EAGAIN);
    tcp_listener nobody;
    sockaddr_in const to = nobody.address();
    nobody.end();
    int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(io::connect(s, reinterpret_cast<sockaddr const*>(&to), sizeof to), -ECONNREFUSED);
    EXPECT_EQ(io::close(s), 0);
}

// Of datagrams a try never tells of the end; a call that waits does.
TEST_P(io_calls, a_socket_of_datagrams_that_is_shut_down_ends_reads) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    char c = 0;
    iovec parts[2] = {{&c, 1}, {&c, 1}};
    std::vector<thread<ssize_t>> readers;
    readers.push_back(spawn([&] { return io::recv(ends[0], &c, 1, 0); }));
    readers.push_back(spawn([&] { return io::read(ends[0], &c, 1); }));
    readers.push_back(spawn([&] { return io::readv(ends[0], parts, 2); }));
    this_thread::sleep_for(20ms);
    EXPECT_EQ(::shutdown(ends[0], SHUT_RD), 0);
    for (auto& r : readers) EXPECT_EQ(r.join(), 0);
    EXPECT_EQ(io::recv(ends[0], &c, 1, 0), 0);
    EXPECT_EQ(io::recv(ends[0], &c, 1, MSG_DONTWAIT), -EAGAIN);
    for (int const end : ends) EXPECT_EQ(io::close(end), 0);
}

TEST_P(io_calls, limits_of_a_socket_itself_have_no_effect) {
    connected_pair both;
    timeval const soon{0, 1000};
    ASSERT_EQ(::setsockopt(both.ours(), SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
    char c = 0;
    EXPECT_EQ(io::recv(both.ours(), &c, 1, 0, wait_limit(20ms)), -ETIMEDOUT);
    auto reader = spawn([&] { return io::recv(both.ours(), &c, 1, 0); });
    this_thread::sleep_for(20ms);
    EXPECT_EQ(io::write(both.theirs(), "l", 1), 1);
    EXPECT_EQ(reader.join(), 1);
}

TEST_P(io_calls, a_socket_whose_connection_was_refused_makes_another_one) {
    tcp_listener server;
    sockaddr_in const to = server.address();
    auto const* const address = reinterpret_cast<sockaddr const*>(&to);
    server.end();
    int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(io::connect(s, address, sizeof to), -ECONNREFUSED);
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(listener, address, sizeof to), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(io::connect(s, address, sizeof to), 0);
    EXPECT_EQ(io::connect(s, address, sizeof to), -EISCONN);
    EXPECT_EQ(io::close(s), 0);
    EXPECT_EQ(io::close(listener), 0);
}

INSTANTIATE_TEST_SUITE_P(workers, io_calls, ::testing::Values(1, 2));

} // namespace
