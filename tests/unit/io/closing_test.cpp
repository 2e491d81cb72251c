// SPDX-License-Identifier: Apache-2.0
// Numbers that are closed, given to other files, or run out, while threads wait or before they do;
// and peers that vanish. No wait is lost, and no descriptor left behind.
#include "base/sanitize.hpp"
#include "io_fixture.hpp"
#include "open_descriptors.hpp"
#include "os/private_descriptor.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/un.h>

namespace {

using namespace tulle;
using namespace std::chrono_literals;

// None is left behind by the run time, or by what a test has done.
class io_closing : public io_calls {
protected:
    void SetUp() override {
        m_before = open_descriptors();
        io_calls::SetUp();
    }
    void TearDown() override {
        io_calls::TearDown();
        EXPECT_EQ(open_descriptors(), m_before);
    }

private:
    std::vector<std::string> m_before;
};

// A thread that reads one byte; its result.
thread<int> spawn_reader(int number) {
    return spawn([number] {
        char c = 0;
        ssize_t const count = io::read(number, &c, 1);
        return count == 1 ? int{c} : static_cast<int>(count);
    });
}

void let_it_wait() {
    for (int k = 0; k < 20; ++k) this_thread::yield();
    this_thread::sleep_for(1ms);
}

TEST_P(io_closing, files_of_the_run_time_stay_open) {
    connected_pair made;
    auto reader = spawn_reader(made.ours());
    let_it_wait();
    int tried = 0;
    for (int number = 0; number < 1024; ++number) {
        if (!os::private_descriptor::is_one(number)) continue;
        ++tried;
        EXPECT_EQ(io::close(number), -EBADF);
        EXPECT_EQ(io::dup2(made.ours(), number), -EBUSY);
        EXPECT_EQ(io::dup2(number, made.ours()), -EBADF);
        EXPECT_EQ(io::dup2(number, number), -EBADF);
        EXPECT_GE(::fcntl(number, F_GETFD), 0);
    }
    EXPECT_GE(tried, 2); // the reactor's
    ASSERT_EQ(::write(made.theirs(), "a", 1), 1);
    EXPECT_EQ(reader.join(), 'a');
}

// The epoll knows the number from its last file, which close(2) has closed behind its back.
TEST_P(io_closing, a_number_that_was_closed_by_the_system_call_is_waited_for_anew) {
    for (int round = 0; round < 100; ++round) {
        connected_pair first;
        auto reader = spawn_reader(first.ours());
        let_it_wait();
        EXPECT_EQ(io::write(first.theirs(), "1", 1), 1);
        EXPECT_EQ(reader.join(), '1');
        int const number = first.give_ours();
        ::close(number);
        connected_pair next;
        ASSERT_EQ(next.ours(), number);
        auto again = spawn_reader(number);
        if (round % 2 == 0) let_it_wait();
        EXPECT_EQ(io::write(next.theirs(), "2", 1), 1);
        EXPECT_EQ(again.join(), '2');
    }
}

// The old file is still open under another number, so the epoll keeps it under this one.
TEST_P(io_closing, a_number_that_goes_to_another_file_and_back) {
    connected_pair first, next;
    int const kept = ::dup(first.ours());
    int const number = first.ours();
    auto reader = spawn_reader(number);
    let_it_wait();
    EXPECT_EQ(io::write(first.theirs(), "1", 1), 1);
    EXPECT_EQ(reader.join(), '1');
    ASSERT_EQ(::dup2(next.ours(), number), number);
    auto of_next = spawn_reader(number);
    let_it_wait();
    EXPECT_EQ(io::write(first.theirs(), "x", 1), 1); // an event of the old file, under this number
    let_it_wait();
    EXPECT_EQ(io::write(next.theirs(), "2", 1), 1);
    EXPECT_EQ(of_next.join(), '2');
    ASSERT_EQ(::dup2(kept, number), number);
    auto back = spawn_reader(number);
    EXPECT_EQ(back.join(), 'x');
    auto last = spawn_reader(number);
    let_it_wait();
    EXPECT_EQ(io::write(first.theirs(), "3", 1), 1);
    EXPECT_EQ(last.join(), '3');
    ::close(kept);
}

TEST_P(io_closing, a_number_that_is_replaced_ends_waits) {
    int ended = 0;
    for (int round = 0; round < 50; ++round) {
        connected_pair first, next;
        int const number = first.ours();
        std::vector<thread<int>> readers;
        for (int k = 0; k < 5; ++k) readers.push_back(spawn_reader(number));
        if (round % 2 == 0) let_it_wait();
        EXPECT_EQ(io::write(next.theirs(), "nnnnn", 5), 5);
        EXPECT_EQ(io::dup2(next.ours(), number), number);
        for (auto& r : readers) {
            int const result = r.join(); // it may not have begun to wait before
            EXPECT_TRUE(result == -EBADF || result == 'n') << result;
            ended += result == -EBADF ? 1 : 0;
        }
        EXPECT_EQ(io::dup2(number, number), number);
        EXPECT_EQ(io::dup2(-1, number), -EBADF);
    }
    EXPECT_GT(ended, 0);
}

// Nothing can be read from the file that has the number then.
TEST_P(io_closing, a_number_that_is_replaced_by_an_idle_file_ends_waits) {
    int result = 0;
    for (int round = 0; round < 3 && result != -EBADF; ++round) {
        connected_pair first, next;
        auto reader = spawn([number = first.ours()] {
            char c = 0;
            return static_cast<int>(io::read(number, &c, 1, wait_limit(5s)));
        });
        let_it_wait();
        EXPECT_EQ(io::dup2(next.ours(), first.ours()), first.ours());
        result = reader.join(); // it may have begun to wait afterwards, for the new file
    }
    EXPECT_EQ(result, -EBADF);
}

// close(2) tells the waiter nothing; it goes on to wait for the file that gets the number next,
// unless it was checked while the number was nobody's.
TEST_P(io_closing, a_number_that_a_new_connection_gets_under_a_waiter) {
    if (base::k_thread_sanitizer) GTEST_SKIP() << "it reports races of descriptors, as this is";
    int taken_over = 0;
    for (int round = 0; round < 20; ++round) {
        int const listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un name{};
        name.sun_family = AF_UNIX; // a name of the system's choice
        ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof(sa_family_t)), 0);
        socklen_t length = sizeof name;
        ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length), 0);
        ASSERT_EQ(::listen(listener, 1), 0);
        int const client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        connected_pair first;
        int const number = first.ours();
        auto reader = spawn([number] {
            char c = 0;
            ssize_t const got = io::read(number, &c, 1, wait_limit(20s));
            return got == 1 ? int{c} : static_cast<int>(got);
        });
        this_thread::sleep_for(5ms); // by now it has been checked, most times
        ::close(first.give_ours());
        ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&name), length), 0);
        int const accepted = io::accept(listener, nullptr, nullptr, SOCK_CLOEXEC);
        EXPECT_EQ(accepted, number);
        if (round % 2 == 0) let_it_wait();
        EXPECT_EQ(io::write(client, "n", 1), 1);
        int const result = reader.join();
        ASSERT_TRUE(result == 'n' || result == -EBADF) << result;
        taken_over += result == 'n' ? 1 : 0;
        for (int const each : {accepted, client, listener}) ::close(each);
    }
    EXPECT_GT(taken_over, 0);
}

TEST_P(io_closing, a_number_that_is_not_replaced_after_all_is_waited_for_on) {
    connected_pair both;
    int const number = both.ours();
    auto reader = spawn_reader(number);
    let_it_wait();
    EXPECT_EQ(io::dup2(-1, number), -EBADF);
    let_it_wait();
    EXPECT_EQ(io::write(both.theirs(), "1", 1), 1);
    EXPECT_EQ(reader.join(), '1');
}

// Threads wait, close and open the same few numbers all the time; each wait ends.
TEST_P(io_closing, closes_and_waits_race) {
    if (base::k_thread_sanitizer) GTEST_SKIP() << "it reports races of descriptors, as these are";
    { // otherwise a number that is closed may become one of the epolls that the first wait opens
        connected_pair first;
        EXPECT_EQ(io::wait_readable(first.ours(), wait_limit(1ms)), -ETIMEDOUT);
    }
    std::atomic<bool> ends{false};
    std::atomic<long> waits{0};
    std::array<std::atomic<int>, 4> numbers{};
    for (auto& n : numbers) n.store(-1);
    std::vector<thread<void>> threads;
    for (std::size_t k = 0; k < 8; ++k)
        threads.push_back(spawn([&, k] {
            while (!ends.load()) {
                char c = 0;
                ssize_t const got = io::read(numbers[k % 4].load(), &c, 1, wait_limit(50ms));
                EXPECT_TRUE(got == 1 || got == 0 || got == -EBADF || got == -ETIMEDOUT) << got;
                waits.fetch_add(1);
                this_thread::yield();
            }
        }));
    auto const end = std::chrono::steady_clock::now() + 300ms;
    for (std::size_t k = 0; std::chrono::steady_clock::now() < end; ++k) {
        std::array<int, 2> ends_of{};
        ASSERT_EQ(::pipe2(ends_of.data(), O_CLOEXEC), 0);
        numbers[k % 4].store(ends_of[0]);
        if (k % 3 == 0) {
            EXPECT_EQ(io::write(ends_of[1], "w", 1), 1);
        }
        this_thread::yield();
        numbers[k % 4].store(-1);
        EXPECT_EQ(io::close(ends_of[0]), 0);
        EXPECT_EQ(io::close(ends_of[1]), 0);
    }
    ends.store(true);
    for (auto& t : threads) t.join();
    EXPECT_GT(waits.load(), 0);
}

TEST_P(io_closing, half_of_a_connection_is_closed) {
    connected_pair both;
    auto reader = spawn_reader(both.ours());
    let_it_wait();
    EXPECT_EQ(::shutdown(both.theirs(), SHUT_WR), 0);
    EXPECT_EQ(reader.join(), 0); // the end
    auto other_way = spawn_reader(both.theirs());
    let_it_wait();
    EXPECT_EQ(io::write(both.ours(), "h", 1), 1); // it goes on
    EXPECT_EQ(other_way.join(), 'h');
}

// Of a pipe the system reports that its other end is gone, and nothing else.
TEST_P(io_closing, the_other_end_of_a_pipe_is_closed) {
    for (std::size_t kept = 0; kept < 2; ++kept) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
        std::array<char, 4096> bytes{};
        while (kept == 1 && ::write(ends[1], bytes.data(), bytes.size()) > 0) {}
        auto waits = spawn([&] {
            return kept == 0 ? io::wait_readable(ends[0], wait_limit(5s))
                             : io::wait_writable(ends[1], wait_limit(5s));
        });
        let_it_wait();
        EXPECT_EQ(::close(ends[1 - kept]), 0);
        EXPECT_EQ(waits.join(), 0);
        EXPECT_EQ(io::close(ends[kept]), 0);
    }
}

TEST_P(io_closing, a_peer_vanishes_with_a_reset) {
    tcp_listener const listener;
    int const client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in const to = listener.address();
    ASSERT_EQ(io::connect(client, reinterpret_cast<sockaddr const*>(&to), sizeof to), 0);
    int const server = io::accept(listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
    ASSERT_GE(server, 0);
    auto reader = spawn_reader(server);
    let_it_wait();
    linger const at_once{1, 0};
    ASSERT_EQ(::setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    EXPECT_EQ(io::close(client), 0);
    EXPECT_EQ(reader.join(), -ECONNRESET);
    EXPECT_EQ(io::close(server), 0);
}

// Nothing tells a client that there is room in the queue of a listener of the same host.
TEST_P(io_closing, a_full_queue_of_connections_is_waited_for) {
    int const listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any.sun_family), 0);
    ASSERT_EQ(::listen(listener, 0), 0);
    sockaddr_un to{};
    socklen_t size = sizeof to;
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&to), &size), 0);
    auto const connect = [&](wait_limit const& limit) {
        int const s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int const error = io::connect(s, reinterpret_cast<sockaddr*>(&to), size, limit);
        io::close(s);
        return error;
    };
    EXPECT_EQ(connect(wait_limit(1s)), 0);
    EXPECT_EQ(connect(wait_limit(5ms)), -ETIMEDOUT);
    auto client = spawn([&] { return connect(wait_limit(50s)); });
    this_thread::sleep_for(2ms);
    for (int k = 0; k < 2; ++k) {
        int const accepted = io::accept(listener, nullptr, nullptr);
        EXPECT_GE(accepted, 0);
        EXPECT_EQ(io::close(accepted), 0);
    }
    EXPECT_EQ(client.join(), 0);
    EXPECT_EQ(io::close(listener), 0);
}

TEST_P(io_closing, no_descriptors_are_left) {
    tcp_listener const listener;
    connected_pair both;
    pollfd asked{both.ours(), POLLIN, 0};
    begin_to_wait(both.ours());
    auto const before = open_descriptors();
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
    int const highest = ::dup(both.ours());
    ::close(highest);
    rlimit none = old;
    none.rlim_cur = static_cast<rlim_t>(highest);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(io::poll(&asked, 1, wait_limit(1ms)), 0); // it needs none
    EXPECT_EQ(io::open("/dev/null", O_RDONLY), -EMFILE);
    EXPECT_EQ(io::dup2(both.ours(), highest), -EBADF);
    char c = 0;
    EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(1ms)), -ETIMEDOUT); // it needs none
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
    EXPECT_EQ(io::poll(&asked, 1, wait_limit(1ms)), 0);
    EXPECT_EQ(open_descriptors(), before);
}

// The first wait needs some.
TEST_P(io_closing, no_descriptors_are_left_for_the_first_wait) {
    connected_pair both;
    auto const before = open_descriptors();
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
    int const highest = ::dup(both.ours());
    ::close(highest);
    for (int left = 0; left < 2; ++left) {
        rlimit few = old;
        few.rlim_cur = static_cast<rlim_t>(highest + left);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        char c = 0;
        EXPECT_EQ(io::read(both.ours(), &c, 1, wait_limit(1s)), -EMFILE) << left;
        EXPECT_EQ(io::write(both.theirs(), "d", 1), 1);
        EXPECT_EQ(io::read(both.ours(), &c, 1), 1); // it need not wait
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
    EXPECT_EQ(open_descriptors(), before);
    auto reader = spawn_reader(both.ours());
    let_it_wait();
    EXPECT_EQ(io::write(both.theirs(), "e", 1), 1);
    EXPECT_EQ(reader.join(), 'e');
}

// Waits that a limit ends leave nothing behind, however many there are.
TEST_P(io_closing, very_many_limits_pass) {
    connected_pair both;
    constexpr int k_threads = 500;
    constexpr int k_waits = 200; // each: 100'000 timers in all
    std::vector<thread<int>> threads;
    for (int k = 0; k < k_threads; ++k)
        threads.push_back(spawn([&both, k] {
            int expired = 0;
            for (int n = 0; n < k_waits; ++n) {
                auto const time = std::chrono::microseconds((k + n) % 50);
                expired += io::wait_readable(both.ours(), wait_limit(time)) == -ETIMEDOUT ? 1 : 0;
            }
            return expired;
        }));
    for (auto& t : threads) EXPECT_EQ(t.join(), k_waits);
    auto reader = spawn_reader(both.ours());
    EXPECT_EQ(io::write(both.theirs(), "l", 1), 1);
    EXPECT_EQ(reader.join(), 'l');
}

// Requests and events race for the same wait; the byte is not lost if the request was first, nor if
// it comes when the event has ended the wait already.
TEST_P(io_closing, cancellations_and_events_race) {
    for (int round = 0; round < 300; ++round) {
        connected_pair both;
        cancellation_source source;
        auto canceller = spawn([&] {
            // The reader may be the first, and then there is nothing to read any more.
            if (round % 3 == 2) static_cast<void>(io::wait_readable(both.ours(), wait_limit(10ms)));
            source.request_stop();
        });
        if (round % 3 == 2) this_thread::yield(); // it waits before the reader
        auto reader = spawn([&] {
            char c = 0;
            return io::read(both.ours(), &c, 1, wait_limit(source.get_token()));
        });
        if (round % 3 == 1) this_thread::yield();
        auto writer = spawn([&] { EXPECT_EQ(io::write(both.theirs(), "r", 1), 1); });
        ssize_t const got = reader.join();
        writer.join();
        canceller.join();
        ASSERT_TRUE(got == 1 || got == -ECANCELED) << got;
        char c = 0;
        EXPECT_EQ(io::recv(both.ours(), &c, 1, MSG_DONTWAIT), got == 1 ? -EAGAIN : 1);
    }
}

// A read that takes less than it asked for is not followed by a try in vain; but the end of the
// stream may have come with the last bytes, or before they were read.
TEST_P(io_closing, the_end_of_a_stream_is_noticed_however_it_comes) {
    tcp_listener const listener;
    sockaddr_in const to = listener.address();
    auto server = spawn([&] {
        for (int round = 0; round < 100; ++round) {
            int const s = io::accept(listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
            std::array<char, 100> bytes{};
            ssize_t all = 0;
            for (ssize_t n = 0; (n = io::read(s, bytes.data(), bytes.size())) > 0; all += n) {
                if (round % 3 == 0) this_thread::sleep_for(100us); // the end comes first
            }
            EXPECT_EQ(all, 4);
            EXPECT_EQ(io::close(s), 0);
        }
    });
    for (int round = 0; round < 100; ++round) {
        int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(io::connect(s, reinterpret_cast<sockaddr const*>(&to), sizeof to), 0);
        EXPECT_EQ(io::write(s, "ab", 2), 2);
        if (round % 2 == 0) this_thread::yield();
        EXPECT_EQ(io::write(s, "cd", 2), 2);
        if (round % 5 == 0) this_thread::sleep_for(100us);
        EXPECT_EQ(io::close(s), 0);
    }
    server.join();
}

INSTANTIATE_TEST_SUITE_P(workers, io_closing, ::testing::Values(1, 2));

} // namespace
