// SPDX-License-Identifier: Apache-2.0
//
// What net/transport.hpp promises, of every transport.
#include "base/sanitize.hpp"
#include "emulated.hpp"
#include "fake_mpi.hpp"
#include "net/host_transport.hpp"
#include "net/looks.hpp"
#include "net/loopback_transport.hpp"
#include "net/mpi_transport.hpp"
#include "net/shm_transport.hpp"
#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::net {
namespace {

// -- places of one process

struct fleet {
    std::unique_ptr<loopback_network> network;
    std::unique_ptr<fake_mpi> mpi;
    std::vector<std::unique_ptr<transport>> places;

    [[nodiscard]] transport& at(rank r) const { return *places[r]; }
};

fleet share_memory(rank count) {
    session const all = session::create(count);
    fleet f;
    for (rank r = 0; r < count; ++r) {
        all.entry(r).process = getpid();
        f.places.push_back(std::make_unique<shm_transport>(session::adopt(dup(all.memory().descriptor())), r));
    }
    return f;
}

fleet loop_back(rank count, loopback_options const& chosen) {
    fleet f;
    f.network = std::make_unique<loopback_network>(count, chosen);
    for (rank r = 0; r < count; ++r) f.places.push_back(f.network->join(r));
    return f;
}

std::unique_ptr<mpi_transport> join(fake_mpi& network, rank as, rank count) {
    return std::make_unique<mpi_transport>(fake_mpi::functions(), network.join(as), as, count);
}

fleet call_mpi(rank count) {
    fleet f;
    f.mpi = std::make_unique<fake_mpi>(count);
    for (rank r = 0; r < count; ++r) f.places.push_back(join(*f.mpi, r, count));
    return f;
}

// Places 0, 2, ... are on one host, the others on another one.
fleet on_two_hosts(rank count) {
    fleet f;
    f.mpi = std::make_unique<fake_mpi>(count);
    std::array<session, 2> const hosts{session::create((count + 1) / 2), session::create(std::max<rank>(count / 2, 1))};
    for (rank r = 0; r < count; ++r) {
        session const& own = hosts[r % 2];
        std::vector<rank> ranks;
        for (rank same = r % 2; same < count; same += 2) ranks.push_back(same);
        own.entry(r / 2).process = getpid();
        auto near = std::make_unique<shm_transport>(session::adopt(dup(own.memory().descriptor())), r / 2);
        f.places.push_back(std::make_unique<host_transport>(std::move(near), std::move(ranks), join(*f.mpi, r, count)));
    }
    return f;
}

void kill_in_session(fleet const& f, rank which) { dynamic_cast<shm_transport&>(f.at(0)).joined().declare_dead(which, SIGKILL); }
void kill_in_loopback(fleet const& f, rank which) { f.network->kill(which, SIGKILL); }

struct kind {
    char const* name;
    fleet (*make)(rank count);
    bool is_one_memory;                         // to ThreadSanitizer, which knows addresses only
    void (*kill)(fleet const&, rank) = nullptr; // null: nobody says who dies
};
void PrintTo(kind const& k, std::ostream* out) { *out << k.name; }

constexpr kind k_shm{"shm", &share_memory, false, &kill_in_session};
constexpr kind k_mpi{"mpi", &call_mpi, true};
constexpr kind k_hosts{"hosts", &on_two_hosts, true};
constexpr kind k_in_order{"loopback", [](rank count) { return loop_back(count, {.most_waiting = 100}); }, true, &kill_in_loopback};
constexpr kind k_seeded{"loopback_seeded", [](rank count) { return loop_back(count, {.seed = 7, .most_waiting = 100}); }, true,
                        &kill_in_loopback};

class any_transport : public testing::TestWithParam<kind> {
protected:
    static fleet make(rank count) { return GetParam().make(count); }
};
INSTANTIATE_TEST_SUITE_P(all, any_transport, testing::Values(k_shm, k_mpi, k_hosts, k_in_order, k_seeded),
                         [](auto const& chosen) { return std::string(chosen.param.name); });

// -- messages

struct message {
    packet head;
    std::vector<std::byte> payload;
};

class collector final : public receiver {
public:
    void deliver(packet const& head, std::byte const* payload) noexcept override {
        messages.push_back({head, std::vector<std::byte>(payload, payload + head.size)});
    }
    void place_died(rank which, int wait_status) noexcept override {
        dead.push_back(which);
        messages_before = messages.size();
        status = wait_status;
    }
    std::vector<message> messages;
    std::vector<rank> dead;
    std::size_t messages_before = 0; // the last one was told
    int status = 0;
};

std::vector<std::byte> some_bytes(std::size_t count, std::uint64_t seed) {
    base::rng random(seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    return bytes;
}

packet head_of(std::uint64_t a, std::size_t size = 0) {
    packet head;
    head.a = a;
    head.size = static_cast<std::uint32_t>(size);
    return head;
}

bool send(transport& from, rank to, std::uint64_t a) { return from.try_send(to, head_of(a), nullptr); }

std::vector<message> all_at(transport& place) {
    collector c;
    while (place.poll(c)) {}
    return c.messages;
}

// As one that polls alone.
void poll_or_sleep(transport& place, receiver& to) {
    if (place.poll(to)) return;
    place.arm();
    if (!place.poll(to)) place.sleep(os::k_no_deadline);
}

void expect_unchanged(transport& from, transport& to, std::size_t size) {
    std::vector<std::byte> const bytes = some_bytes(size, size + 1);
    packet sent;
    sent.handler = 0x0123456789ABCDEF;
    sent.a = ~std::uint64_t{0} - size;
    sent.b = 0x8000000000000001;
    sent.kind = 0xFEDC;
    sent.from = 0xFFFF; // set by the transport
    sent.size = static_cast<std::uint32_t>(size);
    ASSERT_TRUE(from.try_send(to.here(), sent, bytes.data())) << size;
    std::vector<message> const arrived = all_at(to);
    ASSERT_EQ(arrived.size(), 1U) << size;
    packet const& head = arrived[0].head;
    EXPECT_EQ(head.handler, sent.handler);
    EXPECT_EQ(head.a, sent.a);
    EXPECT_EQ(head.b, sent.b);
    EXPECT_EQ(head.kind, sent.kind);
    EXPECT_EQ(head.from, from.here());
    EXPECT_EQ(head.size, size);
    EXPECT_EQ(arrived[0].payload, bytes) << size;
    EXPECT_TRUE(all_at(from).empty()); // but it may hear of room
}

TEST_P(any_transport, knows_where_it_is) {
    fleet const f = make(3);
    for (rank r = 0; r < 3; ++r) {
        EXPECT_EQ(f.at(r).here(), r);
        EXPECT_EQ(f.at(r).count(), 3U);
        EXPECT_GE(f.at(r).most_bytes(), 64U);
    }
}

TEST_P(any_transport, a_message_arrives_unchanged) {
    fleet const f = make(3);
    std::size_t const most = f.at(0).most_bytes();
    for (std::size_t const size : {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{24}, std::size_t{64},
                                   std::size_t{88}, std::size_t{89}, most - 1, most}) {
        expect_unchanged(f.at(2), f.at(1), size);
        expect_unchanged(f.at(1), f.at(1), size);
    }
}

// Each size begins at another line of a ring, and so do messages that go around its end.
TEST_P(any_transport, of_any_size_again_and_again) {
    fleet const f = make(2);
    for (int round = 0; round < 3; ++round)
        for (std::size_t size = 0; size < 300; ++size) expect_unchanged(f.at(0), f.at(1), size);
    for (int round = 0; round < 100; ++round) expect_unchanged(f.at(0), f.at(1), f.at(0).most_bytes());
}

TEST_P(any_transport, without_messages_there_is_nothing) {
    fleet const f = make(2);
    EXPECT_TRUE(all_at(f.at(0)).empty());
    ASSERT_TRUE(send(f.at(0), 1, 1));
    EXPECT_TRUE(all_at(f.at(0)).empty());
    EXPECT_EQ(all_at(f.at(1)).size(), 1U);
    EXPECT_TRUE(all_at(f.at(1)).empty());
}

std::uint64_t send_until_full(transport& from, rank to, std::size_t size) {
    constexpr std::uint64_t k_endless = 1'000'000;
    std::vector<std::byte> const bytes = some_bytes(size, 1);
    std::uint64_t sent = 0;
    while (sent < k_endless && from.try_send(to, head_of(sent, size), bytes.data())) ++sent;
    EXPECT_GT(sent, 1U);
    EXPECT_LT(sent, k_endless) << "it is never full";
    return sent;
}

void expect_each_once(std::vector<message> const& arrived, std::uint64_t sent) {
    ASSERT_EQ(arrived.size(), sent);
    std::set<std::uint64_t> numbers;
    for (message const& m : arrived) numbers.insert(m.head.a);
    EXPECT_EQ(numbers.size(), sent);
    EXPECT_EQ(*numbers.rbegin(), sent - 1);
}

TEST_P(any_transport, when_it_is_full_nothing_is_done) {
    fleet const f = make(2);
    for (std::size_t const size : {std::size_t{0}, std::size_t{100}, f.at(0).most_bytes()}) {
        std::uint64_t const sent = send_until_full(f.at(0), 1, size);
        expect_each_once(all_at(f.at(1)), sent);
        EXPECT_TRUE(all_at(f.at(0)).empty());
    }
}

TEST_P(any_transport, there_is_room_again_when_all_have_polled) {
    fleet const f = make(2);
    std::uint64_t sent = send_until_full(f.at(0), 1, 0);
    collector c;
    EXPECT_TRUE(f.at(1).poll(c));
    EXPECT_TRUE(all_at(f.at(0)).empty()); // though it may hear of the room
    std::size_t const room = c.messages.size();
    for (std::size_t k = 0; k < room; ++k) EXPECT_TRUE(send(f.at(0), 1, sent++)) << k;
    EXPECT_FALSE(send(f.at(0), 1, sent));
    while (f.at(1).poll(c)) {}
    expect_each_once(c.messages, sent);
}

// What arrives is answered while it is delivered.
class echo final : public receiver {
public:
    explicit echo(transport& from) : m_from(from) {}
    void deliver(packet const& head, std::byte const* payload) noexcept override {
        packet back = head;
        back.a += 1000;
        EXPECT_TRUE(m_from.try_send(head.from, back, payload));
    }

private:
    transport& m_from;
};

TEST_P(any_transport, who_gets_a_message_may_send) {
    fleet const f = make(2);
    echo answers(f.at(1));
    for (std::uint64_t k = 0; k < 10; ++k) ASSERT_TRUE(send(f.at(0), 1, k));
    while (f.at(1).poll(answers)) {}
    std::vector<message> const arrived = all_at(f.at(0));
    ASSERT_EQ(arrived.size(), 10U);
    std::uint64_t const sum =
        std::accumulate(arrived.begin(), arrived.end(), std::uint64_t{0}, [](std::uint64_t s, message const& m) { return s + m.head.a; });
    EXPECT_EQ(sum, 10'045U);
}

// -- sleep. What would be lost is waited for ever.

TEST_P(any_transport, does_not_sleep_before_it_is_armed) {
    fleet const f = make(1);
    f.at(0).sleep(os::k_no_deadline);
}

TEST_P(any_transport, a_message_or_a_call_ends_the_sleep_that_follows) {
    fleet const f = make(2);
    f.at(0).arm();
    ASSERT_TRUE(send(f.at(1), 0, 1));
    f.at(0).sleep(os::k_no_deadline);
    EXPECT_EQ(all_at(f.at(0)).size(), 1U);

    f.at(0).arm();
    f.at(0).wake();
    f.at(0).sleep(os::k_no_deadline);

    f.at(0).arm();
    ASSERT_TRUE(send(f.at(0), 0, 1)); // to itself
    f.at(0).sleep(os::k_no_deadline);
    EXPECT_EQ(all_at(f.at(0)).size(), 1U);
}

constexpr std::uint64_t k_short_ns = 10'000'000;

// Whether nothing but the time ended it.
bool sleeps_till_the_deadline(transport& place) {
    std::uint64_t const deadline = os::monotonic_ns() + k_short_ns;
    place.sleep(deadline);
    return os::monotonic_ns() >= deadline;
}

TEST_P(any_transport, a_deadline_ends_a_sleep) {
    fleet const f = make(2);
    f.at(0).arm();
    EXPECT_TRUE(sleeps_till_the_deadline(f.at(0)));
    f.at(0).sleep(0);
}

TEST_P(any_transport, a_place_that_watches_is_not_woken) {
    fleet const f = make(2);
    transport& place = f.at(0);
    place.begin_watch();
    place.begin_watch();
    for (int watches = 2; watches > 0; --watches) {
        place.arm();
        ASSERT_TRUE(send(f.at(1), 0, 1));
        EXPECT_TRUE(sleeps_till_the_deadline(place));
        place.end_watch();
        EXPECT_EQ(all_at(place).size(), 1U);
    }
    place.arm();
    ASSERT_TRUE(send(f.at(1), 0, 1));
    place.sleep(os::k_no_deadline);
    EXPECT_EQ(all_at(place).size(), 1U);
}

TEST_P(any_transport, wakes_while_it_watches) {
    fleet const f = make(1);
    f.at(0).begin_watch();
    f.at(0).arm();
    f.at(0).wake();
    f.at(0).sleep(os::k_no_deadline);
    f.at(0).end_watch();
}

void sleep_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); } // likely enough for the other one to be asleep

TEST_P(any_transport, a_sleeper_is_woken_by_a_message) {
    fleet const f = make(2);
    collector c;
    std::thread sleeper([&] {
        while (c.messages.size() < 3) poll_or_sleep(f.at(0), c);
    });
    for (std::uint64_t k = 0; k < 3; ++k) {
        sleep_a_little();
        EXPECT_TRUE(send(f.at(1), 0, k));
    }
    sleeper.join();
}

TEST_P(any_transport, a_sleeper_is_woken_without_a_message) {
    fleet const f = make(1);
    std::atomic<bool> stop{false};
    std::thread sleeper([&] {
        for (;;) {
            f.at(0).arm();
            if (stop) return;
            f.at(0).sleep(os::k_no_deadline);
        }
    });
    sleep_a_little();
    stop = true;
    f.at(0).wake();
    sleeper.join();
}

// -- many OS threads

constexpr std::uint64_t k_per_thread = 400;

// Polls while there is no room, unless somebody else does at this place.
void send_many(transport& from, rank to, std::uint64_t thread, std::mutex& polling) {
    for (std::uint64_t k = 0; k < k_per_thread; ++k) {
        std::uint64_t const number = thread * k_per_thread + k;
        std::vector<std::byte> const bytes = some_bytes(number % 150, number);
        while (!from.try_send(to, head_of(number, bytes.size()), bytes.data())) {
            std::unique_lock const held(polling, std::try_to_lock);
            EXPECT_TRUE(!held || all_at(from).empty());
            std::this_thread::yield();
        }
    }
}

TEST_P(any_transport, many_send_to_one) {
    constexpr std::uint64_t k_threads = 6;
    fleet const f = make(3);
    collector c;
    std::vector<std::thread> senders;
    std::array<std::mutex, 3> polling;
    std::lock_guard const of_this_thread(polling[0]);
    for (rank t = 0; t < k_threads; ++t)
        senders.emplace_back([&f, t, &p = polling[t % 3]] { send_many(f.at(t % 3), 0, t, p); }); // two at each place
    while (c.messages.size() < k_threads * k_per_thread) poll_or_sleep(f.at(0), c);
    for (std::thread& s : senders) s.join();
    EXPECT_FALSE(f.at(0).poll(c));
    expect_each_once(c.messages, k_threads * k_per_thread);
    for (message const& m : c.messages) {
        ASSERT_EQ(m.payload, some_bytes(m.head.a % 150, m.head.a));
        ASSERT_EQ(m.head.from, m.head.a / k_per_thread % 3);
    }
}

// Sends the next number to the other one, until the last.
class player final : public receiver {
public:
    player(transport& at, rank other, std::uint64_t last) : m_at(at), m_other(other), m_last(last) {}

    void deliver(packet const& head, std::byte const* /*payload*/) noexcept override {
        EXPECT_EQ(head.a, m_expected);
        m_expected += 2;
        serve(head.a + 1);
    }
    void serve(std::uint64_t number) {
        EXPECT_TRUE(number > m_last || send(m_at, m_other, number));
        if (number >= m_last) m_is_over = true;
    }
    void expect_first(std::uint64_t number) { m_expected = number; }
    void play(bool watches) {
        if (watches) m_at.begin_watch();
        while (!m_is_over) {
            if (!watches)
                poll_or_sleep(m_at, *this);
            else if (!m_at.poll(*this))
                std::this_thread::yield();
        }
        if (watches) m_at.end_watch();
    }

private:
    transport& m_at;
    rank m_other;
    std::uint64_t m_last;
    std::uint64_t m_expected = 0;
    bool m_is_over = false;
};

void ping_pong(fleet const& f, bool first_watches) {
    constexpr std::uint64_t k_last = 3999;
    player first(f.at(0), 1, k_last);
    player second(f.at(1), 0, k_last);
    first.expect_first(1);
    second.expect_first(0);
    std::thread opponent([&second] { second.play(false); });
    first.serve(0);
    first.play(first_watches);
    opponent.join();
}

TEST_P(any_transport, two_that_sleep_play_ping_pong) { ping_pong(make(2), false); }
TEST_P(any_transport, one_that_sleeps_plays_with_one_that_watches) { ping_pong(make(2), true); }

// Its receiver looks at what the message points to.
class reader final : public receiver {
public:
    void deliver(packet const& head, std::byte const* /*payload*/) noexcept override {
        seen = *reinterpret_cast<std::uint64_t const*>(head.a); // NOLINT(performance-no-int-to-ptr): of an object here
    }
    std::uint64_t seen = 0;
};

TEST_P(any_transport, what_was_done_before_is_there) {
    if (base::k_thread_sanitizer && !GetParam().is_one_memory) GTEST_SKIP() << "two mappings are two memories to ThreadSanitizer";
    fleet const f = make(2);
    std::uint64_t written = 0;
    std::thread writer([&] {
        written = 42;
        EXPECT_TRUE(send(f.at(1), 0, reinterpret_cast<std::uintptr_t>(&written)));
    });
    reader r;
    while (r.seen == 0) poll_or_sleep(f.at(0), r);
    EXPECT_EQ(r.seen, 42U);
    writer.join();
}

// -- memory of other places

bool cannot_be_done(int error) { return error == EPERM || error == ENOTSUP || error == ENOSYS; }

std::uint64_t address_of(void const* object) { return reinterpret_cast<std::uintptr_t>(object); }

// -- deaths

TEST_P(any_transport, tells_of_a_death_once_after_all_that_the_dead_has_sent) {
    if (GetParam().kill == nullptr) GTEST_SKIP() << "an MPI ends its processes itself";
    fleet const f = make(4);
    std::vector<std::byte> const bytes = some_bytes(64, 1);
    for (std::uint64_t k = 0; k < 20; ++k) {
        ASSERT_TRUE(f.at(2).try_send(0, head_of(k, bytes.size()), bytes.data()));
        ASSERT_TRUE(send(f.at(1), 0, 100 + k));
    }
    GetParam().kill(f, 2);
    collector c;
    while (f.at(0).poll(c)) {}
    EXPECT_EQ(c.messages.size(), 40U);
    EXPECT_EQ(c.dead, std::vector<rank>{2});
    EXPECT_TRUE(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
    EXPECT_TRUE(std::none_of(c.messages.begin() + static_cast<std::ptrdiff_t>(c.messages_before), c.messages.end(),
                             [](message const& m) { return m.head.from == 2; }));
    GetParam().kill(f, 3);
    f.at(0).poll(c);
    EXPECT_EQ(c.dead, (std::vector<rank>{2, 3}));
}

TEST_P(any_transport, what_is_sent_to_the_dead_is_dropped) {
    if (GetParam().kill == nullptr) GTEST_SKIP() << "an MPI ends its processes itself";
    fleet const f = make(3);
    while (send(f.at(0), 2, 1)) {}
    GetParam().kill(f, 2);
    collector c;
    f.at(0).poll(c);
    for (int k = 0; k < 10'000; ++k) ASSERT_TRUE(send(f.at(0), 2, 1));
    EXPECT_EQ(f.at(0).stage(2, 10'000).bytes, nullptr);
    ASSERT_TRUE(send(f.at(0), 1, 5));
    EXPECT_EQ(all_at(f.at(1)).size(), 1U);
    int word = 0;
    EXPECT_EQ(f.at(0).read(2, &word, reinterpret_cast<std::uintptr_t>(&word), sizeof word), ESRCH);
}

TEST_P(any_transport, a_death_ends_a_sleep) {
    if (GetParam().kill == nullptr) GTEST_SKIP() << "an MPI ends its processes itself";
    fleet const f = make(2);
    std::thread killer([&] { GetParam().kill(f, 1); });
    collector c;
    while (c.dead.empty()) poll_or_sleep(f.at(0), c);
    killer.join();
}

TEST_P(any_transport, reads_memory_of_another_place) {
    fleet const f = make(2);
    std::vector<std::byte> const there = some_bytes(300'000, 1);
    std::vector<std::byte> here(there.size());
    int const error = f.at(0).read(1, here.data(), address_of(there.data()), there.size());
    if (cannot_be_done(error)) GTEST_SKIP() << "not allowed: " << std::strerror(error);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(here, there);
    EXPECT_EQ(f.at(0).read(1, nullptr, 0, 0), 0);
}

class pages {
public:
    explicit pages(std::size_t count)
        : m_size(count * k_page), m_low(mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~pages() { munmap(m_low, m_size); }
    pages(pages const&) = delete;
    pages& operator=(pages const&) = delete;
    [[nodiscard]] std::byte* low() const { return static_cast<std::byte*>(m_low); }
    void forbid(std::size_t page) const { EXPECT_EQ(mprotect(low() + page * k_page, k_page, PROT_NONE), 0); }

    std::size_t const k_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

private:
    std::size_t m_size;
    void* m_low;
};

TEST(shm_transport, memory_that_is_not_there_is_a_fault) {
    fleet const f = share_memory(2);
    pages const there(2);
    std::vector<std::byte> here(2 * there.k_page);
    int const error = f.at(0).read(1, here.data(), address_of(there.low()), 2 * there.k_page);
    if (cannot_be_done(error)) GTEST_SKIP() << "not allowed: " << std::strerror(error);
    there.forbid(1);
    EXPECT_EQ(f.at(0).read(1, here.data(), address_of(there.low()), there.k_page), 0);
    EXPECT_EQ(f.at(0).read(1, here.data(), address_of(there.low()), there.k_page + 1), EFAULT);
    EXPECT_EQ(f.at(0).read(1, here.data(), address_of(there.low()) + there.k_page, 1), EFAULT);
    EXPECT_EQ(f.at(0).read(1, here.data(), 8, 8), EFAULT);
}

TEST(shm_transport, a_place_that_is_gone_has_no_memory) {
    TULLE_SKIP_IF_EMULATED("memory of other processes cannot be read");
    session all = session::create(2);
    pid_t const child = ::fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    all.entry(1).process = child;
    shm_transport place(std::move(all), 0);
    std::uint64_t here = 0;
    int const error = place.read(1, &here, address_of(&here), sizeof here);
    if (cannot_be_done(error)) GTEST_SKIP() << "not allowed: " << std::strerror(error);
    EXPECT_EQ(error, ESRCH);
}

// One sender must not keep the others from being served.
TEST(shm_transport, a_poll_takes_some_of_each_sender) {
    fleet const f = share_memory(3);
    static_cast<void>(send_until_full(f.at(0), 2, 0));
    ASSERT_TRUE(send(f.at(1), 2, 7));
    collector c;
    EXPECT_TRUE(f.at(2).poll(c));
    EXPECT_TRUE(std::any_of(c.messages.begin(), c.messages.end(), [](message const& m) { return m.head.from == 1; }));
}

// -- MPI, whose network takes as much as comes

TEST(mpi_transport, a_place_that_does_not_poll_is_not_flooded) {
    constexpr rank k_places = 5;
    fleet const f = call_mpi(k_places);
    std::uint64_t sent = 0;
    for (rank r = 1; r < k_places; ++r) sent += send_until_full(f.at(r), 0, 0);
    EXPECT_EQ(sent, (k_places - 1) * mpi_transport::k_credit);
    EXPECT_LT(f.mpi->most_unexpected(), sent);
    EXPECT_EQ(all_at(f.at(0)).size(), sent);
    for (rank r = 1; r < k_places; ++r) {
        EXPECT_TRUE(all_at(f.at(r)).empty());
        EXPECT_TRUE(send(f.at(r), 0, r));
    }
}

// Neither side ever sends a message of its own accord that says how much it has polled.
TEST(mpi_transport, messages_that_go_back_make_room) {
    fleet const f = call_mpi(2);
    for (std::uint64_t k = 0; k < 10 * mpi_transport::k_credit; ++k) {
        ASSERT_TRUE(send(f.at(0), 1, k)) << k;
        ASSERT_EQ(all_at(f.at(1)).size(), 1U);
        ASSERT_TRUE(send(f.at(1), 0, k)) << k;
        ASSERT_EQ(all_at(f.at(0)).size(), 1U);
    }
}

TEST(mpi_transport, what_is_still_under_way_keeps_its_bytes) {
    constexpr rank k_places = 10;
    fleet const f = call_mpi(k_places);
    f.mpi->hold_sends();
    std::vector<std::uint64_t> sent(k_places);
    rank last = 1; // the first one that gets nothing, as all are under way
    for (; last < k_places && send(f.at(0), last, 0); ++last) sent[last] = 1 + send_until_full(f.at(0), last, 100);
    ASSERT_LT(last, k_places);
    f.mpi->release_sends();
    EXPECT_TRUE(send(f.at(0), last, 0));
    for (rank r = 1; r < last; ++r) {
        std::vector<message> const arrived = all_at(f.at(r));
        EXPECT_EQ(arrived.size(), sent[r]);
        for (std::size_t k = 1; k < arrived.size(); ++k) EXPECT_EQ(arrived[k].payload, some_bytes(100, 1)) << k;
    }
}

TEST(mpi_transport, what_comes_at_the_end_is_thrown_away) {
    fleet const f = call_mpi(2);
    ASSERT_TRUE(send(f.at(0), 1, 1));
    f.at(1).close();
    EXPECT_TRUE(all_at(f.at(1)).empty());
    EXPECT_FALSE(send(f.at(1), 0, 1));
    f.at(1).close();
}

TEST(looks, are_close_at_first_and_grow_rare) {
    std::uint64_t now = 1'000'000'000;
    looks when(now);
    EXPECT_LE(when.next(now, 0), now);
    now += looks::k_spin_ns;
    std::uint64_t last = 0;
    for (int k = 0; k < 20; ++k) {
        std::uint64_t const pause = when.next(now, 1000) - now;
        EXPECT_GE(pause, last);
        now += pause;
        last = pause;
    }
    EXPECT_EQ(last, looks::k_last_ns);
}

TEST(looks, stay_close_while_the_process_computes) {
    std::uint64_t now = 1'000'000'000;
    looks when(now);
    now += looks::k_spin_ns;
    for (int k = 0; k < 100; ++k) {
        std::uint64_t const pause = when.next(now, now) - now; // one processor all the time
        EXPECT_LE(pause, looks::k_computing_ns);
        now += pause;
    }
    now = when.next(now, now);
    EXPECT_GT(when.next(now, 1) - now, 0U);
}

// -- the virtual network

using numbers = std::vector<std::uint64_t>;

numbers numbers_at(transport& place) {
    numbers found;
    for (message const& m : all_at(place)) found.push_back(m.head.a);
    return found;
}

numbers up_to(std::uint64_t count) {
    numbers all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

numbers order_with(loopback_options const& chosen, std::uint64_t count = 200) {
    fleet const f = loop_back(2, chosen);
    for (std::uint64_t k = 0; k < count; ++k) EXPECT_TRUE(send(f.at(0), 1, k));
    return numbers_at(f.at(1));
}

TEST(loopback_transport, without_a_seed_messages_arrive_in_the_order_of_sending) {
    EXPECT_EQ(order_with({}), up_to(200));
    fleet const f = loop_back(3, {});
    for (rank k = 0; k < 20; ++k) EXPECT_TRUE(send(f.at(k % 3), 1, k));
    EXPECT_EQ(numbers_at(f.at(1)), up_to(20));
}

TEST(loopback_transport, the_seed_decides_the_order) {
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        numbers order = order_with({.seed = seed});
        EXPECT_EQ(order, order_with({.seed = seed}));
        EXPECT_NE(order, order_with({.seed = seed + 1}));
        EXPECT_NE(order, up_to(200));
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, up_to(200));
    }
}

// How many later ones came before it, for the one of which there were most.
std::uint64_t most_passed_over(numbers const& order) {
    std::uint64_t most = 0;
    for (auto at = order.begin(); at != order.end(); ++at)
        most = std::max(most, static_cast<std::uint64_t>(std::count_if(order.begin(), at, [at](std::uint64_t n) { return n > *at; })));
    return most;
}

TEST(loopback_transport, no_message_is_passed_over_for_ever) {
    EXPECT_EQ(order_with({.seed = 1, .most_delay = 0}), up_to(200));
    for (std::uint32_t const most : {1U, 2U, 8U, 50U}) EXPECT_EQ(most_passed_over(order_with({.seed = 1, .most_delay = most}, 500)), most);
}

TEST(loopback_transport, nor_while_others_are_sent) {
    constexpr std::uint32_t k_most = 5;
    fleet const f = loop_back(2, {.seed = 3, .most_delay = k_most});
    collector c;
    for (std::uint64_t k = 0; k < 500; ++k) {
        EXPECT_TRUE(send(f.at(0), 1, k));
        EXPECT_TRUE(k < 20 || f.at(1).poll(c));
    }
    numbers order;
    for (message const& m : c.messages) order.push_back(m.head.a);
    EXPECT_EQ(most_passed_over(order), k_most);
}

TEST(loopback_transport, takes_no_more_than_may_wait) {
    fleet const f = loop_back(2, {.most_waiting = 3});
    for (std::uint64_t k = 0; k < 3; ++k) EXPECT_TRUE(send(f.at(0), 1, k));
    EXPECT_FALSE(send(f.at(0), 1, 3));
    EXPECT_FALSE(send(f.at(1), 1, 3));
    EXPECT_TRUE(send(f.at(1), 0, 0)) << "each place has its own";
    EXPECT_EQ(f.network->sent(), 4U);
    collector c;
    EXPECT_TRUE(f.at(1).poll(c));
    EXPECT_TRUE(send(f.at(0), 1, 3));
    EXPECT_FALSE(send(f.at(0), 1, 4));
    EXPECT_EQ(f.network->sent(), 5U);
    EXPECT_EQ(numbers_at(f.at(1)), (numbers{1, 2, 3}));
}

TEST(loopback_transport, forbids_reading_when_told) {
    fleet const f = loop_back(2, {.allows_read = false});
    int const there = 1;
    int here = 0;
    EXPECT_EQ(f.at(0).read(1, &here, address_of(&there), sizeof here), EPERM);
    EXPECT_EQ(here, 0);
}

} // namespace
} // namespace tulle::net
