// SPDX-License-Identifier: Apache-2.0
//
// Connections of every kind, both ways, byte by byte, while the system interrupts the calls, says
// that they would block though they would not, takes or gives one byte only, or has no memory.
// No benchmark. TULLE_TEST_SEED repeats the choices of a run, TULLE_STRESS_SECONDS makes it longer.
#include "open_descriptors.hpp"
#include "sched/worker.hpp"
#include "stress.hpp"

#include <tulle/io.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

std::atomic<std::uint32_t> s_transfers_hit{0}, s_epolls_hit{0};
std::atomic<std::uint64_t> s_calls{0};
std::array<std::atomic<long>, 4> s_met{};
std::atomic<long> s_vain_reads{0}; // of sockets
std::atomic<long> s_controls{0};   // of epolls
std::atomic<long> s_accepts_of_workers{0}, s_accepts{0};

enum class fate : std::uint8_t { none, interrupted, would_block, short_count };

std::uint64_t next_number() noexcept {
    std::uint64_t x = seed() + 0x9e3779b97f4a7c15U * (s_calls.fetch_add(1) + 1);
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

fate next_fate() noexcept {
    std::uint32_t const hit = s_transfers_hit.load();
    std::uint64_t const x = next_number();
    if (x % 8 >= hit) return fate::none;
    auto const chosen = static_cast<fate>(1 + x / 8 % 3);
    s_met[static_cast<std::size_t>(chosen)].fetch_add(1);
    return chosen;
}

template <class Function> Function* hidden(Function* /*type*/, char const* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// real(most): a transfer of at most so many bytes.
template <class Real> ssize_t transfer(std::size_t size, bool may_say_again, Real real) noexcept {
    fate f = next_fate();
    if (f == fate::would_block && !may_say_again) f = fate::none;
    if (f == fate::interrupted || f == fate::would_block) {
        errno = f == fate::interrupted ? EINTR : EAGAIN;
        return -1;
    }
    return real(f == fate::short_count ? std::min<std::size_t>(size, 1) : size);
}

} // namespace

// The program has these functions in place of the system's. They call those.
extern "C" {

ssize_t recv(int socket, void* buffer, std::size_t size, int flags) {
    static auto* const real = hidden(&::recv, "recv");
    return transfer(size, (flags & MSG_DONTWAIT) != 0, [=](std::size_t n) {
        ssize_t const got = real(socket, buffer, n, flags);
        if (got < 0 && errno == EAGAIN) s_vain_reads.fetch_add(1);
        return got;
    });
}

ssize_t send(int socket, void const* buffer, std::size_t size, int flags) {
    static auto* const real = hidden(&::send, "send");
    return transfer(size, (flags & MSG_DONTWAIT) != 0,
                    [=](std::size_t n) { return real(socket, buffer, n, flags); });
}

ssize_t preadv2(int file, iovec const* parts, int count, off_t offset, int flags) {
    static auto* const real = hidden(&::preadv2, "preadv2");
    return transfer(parts->iov_len, true, [=](std::size_t n) {
        iovec const one{parts->iov_base, n};
        return n < parts->iov_len ? real(file, &one, 1, offset, flags)
                                  : real(file, parts, count, offset, flags);
    });
}

ssize_t pwritev2(int file, iovec const* parts, int count, off_t offset, int flags) {
    static auto* const real = hidden(&::pwritev2, "pwritev2");
    return transfer(parts->iov_len, true, [=](std::size_t n) {
        iovec const one{parts->iov_base, n};
        return n < parts->iov_len ? real(file, &one, 1, offset, flags)
                                  : real(file, parts, count, offset, flags);
    });
}

int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
    static auto* const real = hidden(&::accept4, "accept4");
    s_accepts.fetch_add(1);
    if (tulle::sched::this_worker() != nullptr && (fcntl(listener, F_GETFL) & O_NONBLOCK) == 0)
        s_accepts_of_workers.fetch_add(1);
    return real(listener, address, length, flags);
}

int epoll_ctl(int file, int operation, int number, epoll_event* event) noexcept {
    static auto* const real = hidden(&::epoll_ctl, "epoll_ctl");
    s_controls.fetch_add(1);
    if (s_epolls_hit.load() == 0 || next_number() % 8 >= s_epolls_hit.load())
        return real(file, operation, number, event);
    s_met[0].fetch_add(1);
    errno = ENOMEM;
    return -1;
}

int epoll_wait(int file, epoll_event* events, int most, int timeout) {
    static auto* const real = hidden(&::epoll_wait, "epoll_wait");
    if (next_number() % 8 >= s_transfers_hit.load()) return real(file, events, most, timeout);
    errno = EINTR;
    return -1;
}

} // extern "C"

namespace {

using namespace tulle;

struct connection {
    int in = -1, out = -1;
    std::uint64_t sent = 0, received = 0;
};

unsigned char byte_at(std::uint64_t position, int salt) noexcept {
    return static_cast<unsigned char>(position * 31 + (position >> 8U) +
                                      static_cast<unsigned>(salt));
}

connection make_pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return {ends[0], ends[1], 0, 0};
}

connection make_local_pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {ends[0], ends[1], 0, 0};
}

connection make_tcp_connection() {
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    int const client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(io::connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
    int const server = io::accept(listener, nullptr, nullptr, SOCK_CLOEXEC);
    EXPECT_GE(server, 0);
    EXPECT_EQ(io::close(listener), 0);
    return {server, client, 0, 0};
}

// What a caller of the library must expect here; all else is an error.
bool may_go_on(ssize_t result) noexcept { return result == -ETIMEDOUT || result == -ENOMEM; }

template <class Call> ssize_t with_limit_at_times(base::rng& r, Call call) {
    return r.below(4) == 0 ? call(wait_limit(brief(r))) : call(wait_limit(std::chrono::hours(1)));
}

void send_all(connection& c, int salt, std::chrono::steady_clock::time_point end) {
    base::rng r(seed() + static_cast<std::uint64_t>(salt));
    std::array<unsigned char, 3000> bytes{};
    while (std::chrono::steady_clock::now() < end) {
        std::size_t const size = 1 + r.below(bytes.size());
        for (std::size_t k = 0; k < size; ++k) bytes[k] = byte_at(c.sent + k, salt);
        ssize_t const n = with_limit_at_times(
            r, [&](wait_limit const& l) { return io::write(c.out, bytes.data(), size, l); });
        if (n > 0)
            c.sent += static_cast<std::uint64_t>(n);
        else if (!may_go_on(n))
            ADD_FAILURE() << "write: " << n;
    }
    EXPECT_EQ(io::close(c.out), 0);
}

void receive_all(connection& c, int salt) {
    base::rng r(seed() + static_cast<std::uint64_t>(salt) + 1000);
    std::array<unsigned char, 5000> bytes{};
    for (;;) {
        std::size_t const size = 1 + r.below(bytes.size());
        ssize_t const n = with_limit_at_times(
            r, [&](wait_limit const& l) { return io::read(c.in, bytes.data(), size, l); });
        if (n == 0) break;
        if (n < 0 && may_go_on(n)) continue;
        ASSERT_GT(n, 0);
        for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k)
            ASSERT_EQ(bytes[k], byte_at(c.received + k, salt)) << "at " << c.received + k;
        c.received += static_cast<std::uint64_t>(n);
    }
    EXPECT_EQ(io::close(c.in), 0);
}

// Of eight calls so many meet something once the connections are made.
void run_connections(std::uint32_t transfers_hit, std::uint32_t epolls_hit) {
    std::vector<connection> connections;
    for (int k = 0; k < 4; ++k) {
        connections.push_back(make_pipe());
        connections.push_back(make_local_pair());
        connections.push_back(make_tcp_connection());
    }
    s_transfers_hit.store(transfers_hit);
    s_epolls_hit.store(epolls_hit);
    auto const end = end_of_run(2);
    std::vector<thread<void>> threads;
    for (std::size_t k = 0; k < connections.size(); ++k) {
        connection& c = connections[k];
        int const salt = static_cast<int>(k);
        threads.push_back(spawn([&c, salt, end] { send_all(c, salt, end); }));
        threads.push_back(spawn([&c, salt] { receive_all(c, salt); }));
    }
    for (auto& t : threads) t.join();
    s_transfers_hit.store(0);
    s_epolls_hit.store(0);
    std::uint64_t bytes = 0;
    for (connection const& c : connections) {
        EXPECT_EQ(c.received, c.sent);
        bytes += c.received;
    }
    EXPECT_GT(bytes, 0U);
    std::printf("%llu bytes; %ld interrupted, %ld would block, %ld short, %ld without memory\n",
                static_cast<unsigned long long>(bytes), s_met[1].load(), s_met[2].load(),
                s_met[3].load(), s_met[0].load());
}

void start_reactor() {
    spawn([] {}).join(); // the start takes longer than the limit
    connection const c = make_pipe();
    char byte = 0;
    EXPECT_EQ(io::read(c.in, &byte, 1, wait_limit(std::chrono::milliseconds(50))), -ETIMEDOUT);
    EXPECT_EQ(io::close(c.in), 0);
    EXPECT_EQ(io::close(c.out), 0);
}

TEST(io_stress, bytes_arrive_whatever_the_calls_say) {
    print_seed("bytes_arrive_whatever_the_calls_say");
    start_reactor();
    auto const before = open_descriptors();
    for (std::uint32_t const hit : {0U, 2U, 6U}) run_connections(hit, 0);
    EXPECT_EQ(open_descriptors(), before);
    for (std::size_t k = 1; k < s_met.size(); ++k) EXPECT_GT(s_met[k].load(), 0) << k;
}

TEST(io_stress, bytes_arrive_where_the_epoll_has_no_memory) {
    print_seed("bytes_arrive_where_the_epoll_has_no_memory");
    start_reactor();
    auto const before = open_descriptors();
    run_connections(1, 2);
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_GT(s_met[0].load(), 0);
}

// A read that takes less than it asks for has taken all there is: the next one waits at once. And
// the epoll is not asked anew for each message.
TEST(io_stress, a_message_takes_few_calls) {
    start_reactor();
    connection const there = make_tcp_connection(), back = make_tcp_connection();
    constexpr int k_rounds = 2000;
    auto echo = spawn([&] {
        std::array<char, 100> bytes{};
        for (ssize_t n = 0; (n = io::read(there.in, bytes.data(), bytes.size())) > 0;)
            EXPECT_EQ(io::write(back.out, bytes.data(), static_cast<std::size_t>(n)), n);
    });
    s_vain_reads.store(0);
    s_controls.store(0);
    std::array<char, 100> bytes{};
    for (int k = 0; k < k_rounds; ++k) {
        EXPECT_EQ(io::write(there.out, bytes.data(), 10), 10);
        EXPECT_EQ(io::read(back.in, bytes.data(), bytes.size()), 10);
    }
    EXPECT_LT(s_vain_reads.load(), k_rounds); // of two reads a round
    EXPECT_LT(s_controls.load(), k_rounds);
    EXPECT_EQ(io::close(there.out), 0);
    echo.join(); // the end is noticed
    for (int const end : {there.in, back.in, back.out}) EXPECT_EQ(io::close(end), 0);
}

// Another process that has the listening socket may be faster: nothing tells of it before the call.
TEST(io_stress, no_worker_makes_a_call_that_may_block) {
    s_accepts.store(0);
    s_accepts_of_workers.store(0);
    connection const c = make_tcp_connection();
    EXPECT_GT(s_accepts.load(), 0);
    EXPECT_EQ(s_accepts_of_workers.load(), 0);
    EXPECT_EQ(io::close(c.in), 0);
    EXPECT_EQ(io::close(c.out), 0);
}

// The file lives on under another number, but the epoll does not tell of it under this one.
TEST(io_stress, a_file_that_is_closed_does_not_wake_who_waits_for_the_next_one) {
    start_reactor();
    connection const old = make_local_pair();
    char byte = 0;
    EXPECT_EQ(io::read(old.in, &byte, 1, wait_limit(std::chrono::milliseconds(1))), -ETIMEDOUT);
    int const kept = ::dup(old.in);
    EXPECT_EQ(io::close(old.in), 0);
    connection const next = make_local_pair();
    ASSERT_EQ(next.in, old.in);
    auto reader = spawn([&] {
        char c = 0;
        return io::recv(next.in, &c, 1, 0) == 1 ? c : '!';
    });
    for (int k = 0; k < 20; ++k) this_thread::sleep_for(std::chrono::milliseconds(1));
    s_vain_reads.store(0);
    for (int k = 0; k < 100; ++k) {
        EXPECT_EQ(io::write(old.out, "o", 1), 1);
        this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_LT(s_vain_reads.load(), 10);
    EXPECT_EQ(io::write(next.out, "n", 1), 1);
    EXPECT_EQ(reader.join(), 'n');
    for (int const end : {kept, old.out, next.in, next.out}) EXPECT_EQ(io::close(end), 0);
}

} // namespace
