// SPDX-License-Identifier: Apache-2.0
#include "net/host_watch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::net {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_limit = 400ms;
constexpr std::chrono::milliseconds k_longest_limit = 8s;
constexpr std::chrono::milliseconds k_patience = 60s;

in6_addr loopback() {
    in6_addr made{};
    made.s6_addr[10] = made.s6_addr[11] = 0xFF;
    made.s6_addr[12] = 127;
    made.s6_addr[15] = 1;
    return made;
}

host_contact at_loopback(host_contact contact) {
    contact.address_count = 1;
    contact.addresses[0] = loopback();
    return contact;
}

// What a watch has told.
struct news {
    std::atomic<int> heard{0};
    std::atomic<int> lost{0};
    std::atomic<int> gone{0}; // of these, processes
    std::atomic<int> stopped{0};
    std::atomic<int> unheard{0};

    void put_into(host_watch::settings& to) {
        to.tell_heard = [this](host_watch::member const&) { ++heard; };
        to.tell_lost = [this](host_watch::member const&, host_watch::loss how) {
            if (how == host_watch::loss::process_gone) ++gone;
            ++lost;
        };
        to.tell_stopped = [this](host_watch::member const&) { ++stopped; };
        to.tell_unheard = [this](host_watch::member const&) { ++unheard; };
    }
};

host_watch::settings settings_of(std::uint32_t own, news& told,
                                 std::vector<host_watch::member> others,
                                 std::chrono::milliseconds limit = k_limit) {
    host_watch::settings made;
    made.own_id = own;
    made.limit_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(limit).count());
    made.others = std::move(others);
    told.put_into(made);
    return made;
}

bool comes_true(std::function<bool()> const& condition,
                std::chrono::milliseconds patience = k_patience) {
    for (auto const end = clock::now() + patience; clock::now() < end;
         std::this_thread::sleep_for(2ms))
        if (condition()) return true;
    return false;
}

// Where the system keeps a thread from running for longer than a limit, its host is silent. So what
// tells nothing of hosts that are there is tried with longer limits, too.
void expect_at_some_limit(std::function<bool(std::chrono::milliseconds)> const& attempt) {
    for (auto limit = k_limit; limit <= k_longest_limit; limit *= 4)
        if (attempt(limit)) return;
    ADD_FAILURE() << "with no limit";
}

// Between the ports of two watches. Each sees the other at a port of the wire.
class wire {
public:
    wire(std::uint16_t a, std::uint16_t b, double loss, std::chrono::milliseconds delay)
        : m_ends{{{a}, {b}}}, m_loss(loss), m_delay(delay) {
        for (end_of_wire& each : m_ends) open(each);
        m_thread = std::thread([this] { run(); });
    }
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;
    ~wire() {
        m_stops = true;
        m_thread.join();
        for (end_of_wire const& each : m_ends) close(each.socket);
    }
    [[nodiscard]] std::uint16_t port_instead_of_a() const { return m_ends[0].port; }
    [[nodiscard]] std::uint16_t port_instead_of_b() const { return m_ends[1].port; }
    void cut(bool is_cut) { m_is_cut = is_cut; }

private:
    struct end_of_wire {
        std::uint16_t watch; // the port that it stands for
        int socket = -1;
        std::uint16_t port = 0;
    };
    struct message {
        clock::time_point at;
        std::vector<char> bytes;
        std::size_t to;
    };
    static sockaddr_in at_port(std::uint16_t port) {
        sockaddr_in made{};
        made.sin_family = AF_INET;
        made.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        made.sin_port = htons(port);
        return made;
    }
    static void open(end_of_wire& each) {
        each.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in own = at_port(0);
        socklen_t size = sizeof own;
        EXPECT_EQ(bind(each.socket, reinterpret_cast<sockaddr*>(&own), size), 0);
        EXPECT_EQ(getsockname(each.socket, reinterpret_cast<sockaddr*>(&own), &size), 0);
        each.port = ntohs(own.sin_port);
    }
    void take_what_comes_for(std::size_t to) {
        std::vector<char> bytes(1024);
        ssize_t const got = recv(m_ends[to].socket, bytes.data(), bytes.size(), 0);
        if (got <= 0 || m_is_cut || std::uniform_real_distribution<>()(m_random) < m_loss) return;
        bytes.resize(static_cast<std::size_t>(got));
        m_under_way.push_back({clock::now() + m_delay, bytes, to});
    }
    void run() {
        for (; !m_stops; send_what_is_due()) {
            std::array<pollfd, 2> wanted{
                {{m_ends[0].socket, POLLIN, 0}, {m_ends[1].socket, POLLIN, 0}}};
            if (poll(wanted.data(), wanted.size(), 2) <= 0) continue;
            take_what_comes_for(0);
            take_what_comes_for(1);
        }
    }
    void send_what_is_due() {
        for (; !m_under_way.empty() && m_under_way.front().at <= clock::now();
             m_under_way.pop_front()) {
            message const& l = m_under_way.front();
            sockaddr_in const to = at_port(m_ends[l.to].watch);
            if (m_is_cut) continue;
            sendto(m_ends[1 - l.to].socket, l.bytes.data(), l.bytes.size(), 0,
                   reinterpret_cast<sockaddr const*>(&to), sizeof to);
        }
    }

    std::array<end_of_wire, 2> m_ends;
    double m_loss;
    std::chrono::milliseconds m_delay;
    std::mt19937 m_random{1};
    std::deque<message> m_under_way;
    std::atomic<bool> m_is_cut{false};
    std::atomic<bool> m_stops{false};
    std::thread m_thread;
};

class two_watches {
public:
    explicit two_watches(std::chrono::milliseconds limit, double loss = 0,
                         std::chrono::milliseconds delay = {})
        : m_between(a.contact().datagram_port, b.contact().datagram_port, loss, delay) {
        a.start(settings_of(0, of_a, {{1, through(m_between.port_instead_of_b(), b)}}, limit));
        b.start(settings_of(1, of_b, {{0, through(m_between.port_instead_of_a(), a)}}, limit));
    }
    void cut(bool is_cut) { m_between.cut(is_cut); }
    [[nodiscard]] int lost() const { return of_a.lost + of_b.lost; }
    [[nodiscard]] int told() const {
        return lost() + of_a.stopped + of_b.stopped + of_a.unheard + of_b.unheard;
    }

    news of_a;
    news of_b;
    host_watch a{7};
    host_watch b{7};

private:
    // The wire carries no connections, so nobody answers a probe.
    static host_contact through(std::uint16_t port, host_watch const& to) {
        host_contact contact = at_loopback(to.contact());
        contact.datagram_port = port;
        contact.probe_port = 0;
        return contact;
    }
    wire m_between;
};

TEST(host_watch, hosts_that_are_there_are_not_lost) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        two_watches both(limit);
        std::this_thread::sleep_for(4 * limit);
        return both.told() == 0;
    });
}

TEST(host_watch, a_cable_that_is_cut_loses_both_once) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        two_watches both(limit);
        std::this_thread::sleep_for(limit);
        if (both.told() != 0) return false;
        both.cut(true);
        EXPECT_TRUE(comes_true([&] { return both.of_a.lost == 1 && both.of_b.lost == 1; }));
        std::this_thread::sleep_for(2 * limit);
        EXPECT_EQ(both.lost(), 2);
        return true;
    });
}

TEST(host_watch, a_short_cut_is_survived) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        two_watches both(limit);
        std::this_thread::sleep_for(limit);
        for (int k = 0; k < 3; ++k) {
            both.cut(true);
            std::this_thread::sleep_for(limit / 4);
            both.cut(false);
            std::this_thread::sleep_for(limit / 2);
        }
        return both.told() == 0;
    });
}

TEST(host_watch, loss_and_delay_lose_nobody) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        two_watches lossy(limit, 0.3);
        two_watches slow(limit, 0, limit / 2);
        std::this_thread::sleep_for(8 * limit);
        return lossy.told() + slow.told() == 0;
    });
}

TEST(host_watch, a_host_that_is_never_heard_is_told_and_not_lost) {
    two_watches both(k_limit, 1.0);
    EXPECT_TRUE(comes_true([&] { return both.of_a.unheard == 1 && both.of_b.unheard == 1; }));
    std::this_thread::sleep_for(2 * k_limit);
    EXPECT_EQ(both.lost(), 0);
}

TEST(host_watch, a_host_that_leaves_is_not_lost) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        two_watches both(limit);
        std::this_thread::sleep_for(limit);
        both.b.stop();
        std::this_thread::sleep_for(3 * limit);
        return both.lost() == 0;
    });
}

TEST(host_watch, of_another_job_nothing_is_heard) {
    news told;
    news other;
    host_watch a(1);
    host_watch b(2);
    b.start(settings_of(1, other, {{0, at_loopback(a.contact())}}));
    a.start(settings_of(0, told, {{1, at_loopback(b.contact())}}));
    EXPECT_TRUE(comes_true([&] { return told.unheard == 1; }));
}

TEST(host_watch, strangers_are_taken_where_they_are_welcome) {
    expect_at_some_limit([](std::chrono::milliseconds limit) {
        news told;
        news other;
        host_watch a(1);
        auto b = std::make_unique<host_watch>(1);
        auto chosen = settings_of(0, told, {}, limit);
        chosen.takes_strangers = true;
        a.start(std::move(chosen));
        b->start(settings_of(5, other, {{0, at_loopback(a.contact())}}, limit));
        std::this_thread::sleep_for(2 * limit);
        bool const is_answered = other.unheard == 0;
        EXPECT_EQ(other.heard, is_answered ? 1 : 0);
        EXPECT_LE(told.heard, 1); // however often
        b = nullptr;              // it leaves
        std::this_thread::sleep_for(2 * limit);
        return is_answered && told.heard == 1 && told.lost == 0;
    });
}

// A process with a watch, which ends with the test.
class watching_process {
public:
    explicit watching_process(host_watch const& other) {
        m_process = ::fork();
        if (m_process != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        news told;
        host_watch own(1);
        own.start(settings_of(1, told, {{0, at_loopback(other.contact())}}));
        for (;;) pause();
    }
    watching_process(watching_process const&) = delete;
    watching_process& operator=(watching_process const&) = delete;
    ~watching_process() { end(); }
    void send(int number) const { kill(m_process, number); }
    void end() {
        if (m_process <= 0) return;
        send(SIGKILL);
        waitpid(std::exchange(m_process, 0), nullptr, 0);
    }

private:
    pid_t m_process;
};

struct host_watch_over_processes : ::testing::Test {
    void SetUp() override {
        auto chosen = settings_of(0, told, {});
        chosen.takes_strangers = true;
        own.start(std::move(chosen));
        std::this_thread::sleep_for(2 * k_limit);
        ASSERT_EQ(told.lost, 0);
    }
    news told;
    host_watch own{1};
    watching_process other{own};
};

TEST_F(host_watch_over_processes, one_that_is_stopped_is_told_and_not_lost) {
    other.send(SIGSTOP);
    EXPECT_TRUE(comes_true([&] { return told.stopped != 0; }));
    int const times = told.stopped; // 1, unless it did not get a processor before
    std::this_thread::sleep_for(3 * k_limit);
    EXPECT_EQ(told.stopped, times);
    for (int k = 1; k <= 8 && told.stopped == times; k *= 2) { // until it has been heard between
        other.send(SIGCONT);
        std::this_thread::sleep_for(2 * k * k_limit);
        other.send(SIGSTOP);
        comes_true([&] { return told.stopped != times; }, 4 * k * k_limit);
    }
    EXPECT_GT(told.stopped, times);
    EXPECT_EQ(told.lost, 0);
}

TEST_F(host_watch_over_processes, one_that_has_been_killed_is_lost) {
    other.end();
    EXPECT_TRUE(comes_true([&] { return told.lost == 1; }));
    EXPECT_EQ(told.gone, 1);
}

TEST(host_contact, is_the_same_as_text) {
    host_contact sent = contact_of_this_host();
    sent.job = 0xFFFFFFFFFFFFFFFFU;
    sent.datagram_port = 65535;
    sent.probe_port = 1;
    auto const got = parse_contact(text_of(sent));
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->job, sent.job);
    EXPECT_EQ(got->datagram_port, sent.datagram_port);
    EXPECT_EQ(got->probe_port, sent.probe_port);
    EXPECT_EQ(got->address_count, sent.address_count);
    EXPECT_EQ(std::memcmp(got->addresses.data(), sent.addresses.data(), sizeof sent.addresses), 0);
    EXPECT_STREQ(got->name.data(), sent.name.data());
    EXPECT_FALSE(parse_contact("").has_value());
    EXPECT_FALSE(parse_contact("1 2 3 a somewhere").has_value());
}

} // namespace
} // namespace tulle::net
