// SPDX-License-Identifier: Apache-2.0
//
// What net/transport.hpp promises, as tests of any transport: whoever includes this instantiates
// `any_transport` with the kinds at hand.
#pragma once

#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "net/transport.hpp"
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
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

class fake_mpi;

namespace tulle::net {

class loopback_network;

namespace {

// -- places that a test has in its hands

struct fleet {
    std::shared_ptr<loopback_network> network;
    std::shared_ptr<fake_mpi> mpi;
    std::vector<std::unique_ptr<transport>> places;

    [[nodiscard]] transport& at(rank r) const { return *places[r]; }
};

struct kind {
    char const* name;
    fleet (*make)(rank count);
    bool is_one_memory;                         // to ThreadSanitizer, which knows addresses only
    void (*kill)(fleet const&, rank) = nullptr; // null: nobody says who dies
    rank most_places = k_most_places;
    // Whether something is on its way to that place. Null: what has been sent is there at once.
    bool (*expects)(transport& place) = nullptr;
    bool tells_how_places_die = true;
};
void PrintTo(kind const& k, std::ostream* out) { *out << k.name; }

bool (*expects_at)(transport& place) = nullptr; // of the kind that is tested

class any_transport : public testing::TestWithParam<kind> {
protected:
    any_transport() { expects_at = GetParam().expects; }
    ~any_transport() override { expects_at = nullptr; }
    static fleet make(rank count) {
        if (count > GetParam().most_places)
            throw std::out_of_range("begin the test with TULLE_NEEDS_PLACES");
        return GetParam().make(count);
    }
};
#define TULLE_NEEDS_PLACES(count)                                                                  \
    if (GetParam().most_places < (count))                                                          \
    GTEST_SKIP() << "there are " << GetParam().most_places << " processes"

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

bool send(transport& from, rank to, std::uint64_t a) {
    return from.try_send(to, head_of(a), nullptr);
}

void poll_all(transport& place, receiver& to) {
    while (place.poll(to) || (expects_at != nullptr && expects_at(place))) {}
}

std::vector<message> all_at(transport& place) {
    collector c;
    poll_all(place, c);
    return c.messages;
}

// When news of room are under way. What comes with them was not expected.
bool send_when_there_is_room(transport& from, rank to, packet const& head,
                             std::byte const* payload) {
    collector c;
    for (;;) {
        if (from.try_send(to, head, payload)) return c.messages.empty();
        if (expects_at == nullptr) return false;
        from.poll(c);
    }
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
    ASSERT_TRUE(send_when_there_is_room(from, to.here(), sent, bytes.data())) << size;
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
    TULLE_NEEDS_PLACES(3);
    fleet const f = make(3);
    for (rank r = 0; r < 3; ++r) {
        EXPECT_EQ(f.at(r).here(), r);
        EXPECT_EQ(f.at(r).count(), 3U);
        EXPECT_GE(f.at(r).most_bytes(), 64U);
    }
}

TEST_P(any_transport, a_message_arrives_unchanged) {
    TULLE_NEEDS_PLACES(3);
    fleet const f = make(3);
    std::size_t const most = f.at(0).most_bytes();
    for (std::size_t const size :
         {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{24},
          std::size_t{64}, std::size_t{88}, std::size_t{89}, most - 1, most}) {
        expect_unchanged(f.at(2), f.at(1), size);
        expect_unchanged(f.at(1), f.at(1), size);
    }
}

// Each size begins at another line of a ring, and so do messages that go around its end.
TEST_P(any_transport, of_any_size_again_and_again) {
    fleet const f = make(2);
    for (int round = 0; round < 3; ++round)
        for (std::size_t size = 0; size < 300; ++size) expect_unchanged(f.at(0), f.at(1), size);
    for (int round = 0; round < 100; ++round)
        expect_unchanged(f.at(0), f.at(1), f.at(0).most_bytes());
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
    EXPECT_TRUE(send_when_there_is_room(from, to, head_of(0, size), bytes.data()));
    std::uint64_t sent = 1;
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
    poll_all(f.at(1), c);
    EXPECT_TRUE(all_at(f.at(0)).empty()); // though it may hear of the room
    // Where some may come later than others, there is room for one more at least.
    std::size_t const room = GetParam().expects == nullptr ? c.messages.size() : 1;
    for (std::size_t k = 0; k < room; ++k)
        EXPECT_TRUE(send_when_there_is_room(f.at(0), 1, head_of(sent++), nullptr)) << k;
    EXPECT_TRUE(GetParam().expects != nullptr || !send(f.at(0), 1, sent));
    for (message& m : all_at(f.at(1))) c.messages.push_back(std::move(m));
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

TEST_P(any_transport, a_receiver_of_a_message_may_send) {
    fleet const f = make(2);
    echo answers(f.at(1));
    for (std::uint64_t k = 0; k < 10; ++k) ASSERT_TRUE(send(f.at(0), 1, k));
    poll_all(f.at(1), answers);
    std::vector<message> const arrived = all_at(f.at(0));
    ASSERT_EQ(arrived.size(), 10U);
    std::uint64_t const sum =
        std::accumulate(arrived.begin(), arrived.end(), std::uint64_t{0},
                        [](std::uint64_t s, message const& m) { return s + m.head.a; });
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

// Likely enough for the other one to be asleep.
void sleep_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

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
    TULLE_NEEDS_PLACES(3);
    constexpr std::uint64_t k_threads = 6;
    fleet const f = make(3);
    collector c;
    std::vector<std::thread> senders;
    std::array<std::mutex, 3> polling;
    std::lock_guard const of_this_thread(polling[0]);
    for (rank t = 0; t < k_threads; ++t)
        // Two at each place.
        senders.emplace_back([&f, t, &p = polling[t % 3]] { send_many(f.at(t % 3), 0, t, p); });
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
    player(transport& at, rank other, std::uint64_t last)
        : m_at(at), m_other(other), m_last(last) {}

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
        seen = *reinterpret_cast<std::uint64_t const*>(
            head.a); // NOLINT(performance-no-int-to-ptr): of an object here
    }
    std::uint64_t seen = 0;
};

TEST_P(any_transport, what_was_done_before_is_there) {
    if (base::k_thread_sanitizer && !GetParam().is_one_memory)
        GTEST_SKIP() << "two mappings are two memories to ThreadSanitizer";
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
    if (GetParam().tells_how_places_die)
        EXPECT_TRUE(WIFSIGNALED(c.status) && WTERMSIG(c.status) == SIGKILL);
    else
        EXPECT_EQ(c.status, k_unknown_status);
    EXPECT_TRUE(std::none_of(c.messages.begin() + static_cast<std::ptrdiff_t>(c.messages_before),
                             c.messages.end(), [](message const& m) { return m.head.from == 2; }));
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

} // namespace
} // namespace tulle::net
