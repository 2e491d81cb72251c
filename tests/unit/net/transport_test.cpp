// SPDX-License-Identifier: Apache-2.0
//
// What net/transport.hpp promises, of every transport within one process (over processes of an MPI:
// tests/mpi/contract.cpp), and what each is besides.
#include "emulated.hpp"
#include "fake_mpi.hpp"
#include "net/host_transport.hpp"
#include "net/loopback_transport.hpp"
#include "net/mpi_transport.hpp"
#include "net/poll_pauses.hpp"
#include "net/shm_transport.hpp"
#include "os/clock.hpp"
#include "transport_contract.hpp"

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
#include <map>
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

fleet share_memory(rank count) {
    session const all = session::create(count);
    fleet f;
    for (rank r = 0; r < count; ++r) {
        all.entry(r).process = getpid();
        f.places.push_back(
            std::make_unique<shm_transport>(session::adopt(dup(all.memory().descriptor())), r));
    }
    return f;
}

fleet loop_back(rank count, loopback_options const& chosen) {
    fleet f;
    f.network = std::make_shared<loopback_network>(count, chosen);
    for (rank r = 0; r < count; ++r) f.places.push_back(f.network->join(r));
    return f;
}

std::unique_ptr<mpi_transport> join(fake_mpi& network, rank as, rank count) {
    return std::make_unique<mpi_transport>(fake_mpi::functions(), network.join(as), as, count,
                                           true);
}

fleet call_mpi(rank count) {
    fleet f;
    f.mpi = std::make_shared<fake_mpi>(count);
    for (rank r = 0; r < count; ++r) f.places.push_back(join(*f.mpi, r, count));
    return f;
}

// Places 0, 2, ... are on one host, the others on another one.
fleet on_two_hosts(rank count) {
    fleet f;
    f.mpi = std::make_shared<fake_mpi>(count);
    std::array<session, 2> const hosts{session::create((count + 1) / 2),
                                       session::create(std::max<rank>(count / 2, 1))};
    for (rank r = 0; r < count; ++r) {
        session const& own = hosts[r % 2];
        std::vector<rank> ranks;
        for (rank same = r % 2; same < count; same += 2) ranks.push_back(same);
        own.entry(r / 2).process = getpid();
        auto near =
            std::make_unique<shm_transport>(session::adopt(dup(own.memory().descriptor())), r / 2);
        f.places.push_back(std::make_unique<host_transport>(std::move(near), std::move(ranks),
                                                            join(*f.mpi, r, count)));
    }
    return f;
}

void kill_in_session(fleet const& f, rank which) {
    dynamic_cast<shm_transport&>(f.at(0)).joined().declare_dead(which, SIGKILL);
}
void kill_in_mpi(fleet const& f, rank which) { f.mpi->kill(which); }
void kill_in_loopback(fleet const& f, rank which) { f.network->kill(which, SIGKILL); }

constexpr kind k_shm{"shm", &share_memory, false, &kill_in_session};
constexpr kind k_mpi{"mpi", &call_mpi, true, &kill_in_mpi, k_most_places, nullptr, false};
constexpr kind k_hosts{"hosts", &on_two_hosts, true, &kill_in_mpi, k_most_places, nullptr, false};
constexpr kind k_in_order{"loopback",
                          [](rank count) { return loop_back(count, {.most_waiting = 100}); }, true,
                          &kill_in_loopback};
constexpr kind k_seeded{
    "loopback_seeded",
    [](rank count) { return loop_back(count, {.seed = 7, .most_waiting = 100}); }, true,
    &kill_in_loopback};

INSTANTIATE_TEST_SUITE_P(all, any_transport,
                         testing::Values(k_shm, k_mpi, k_hosts, k_in_order, k_seeded),
                         [](auto const& chosen) { return std::string(chosen.param.name); });

// -- memory that processes share

class pages {
public:
    explicit pages(std::size_t count)
        : m_size(count * k_page),
          m_low(mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    }
    ~pages() { munmap(m_low, m_size); }
    pages(pages const&) = delete;
    pages& operator=(pages const&) = delete;
    [[nodiscard]] std::byte* low() const { return static_cast<std::byte*>(m_low); }
    void forbid(std::size_t page) const {
        EXPECT_EQ(mprotect(low() + page * k_page, k_page, PROT_NONE), 0);
    }

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
    EXPECT_TRUE(std::any_of(c.messages.begin(), c.messages.end(),
                            [](message const& m) { return m.head.from == 1; }));
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

// So what a place holds for others is bounded by bytes, and large ones are not kept waiting for
// ever.
TEST(mpi_transport, large_messages_take_more_of_the_credit) {
    fleet const f = call_mpi(2);
    std::vector<std::byte> const large(f.at(0).most_bytes(), std::byte{5});
    packet head;
    head.size = static_cast<std::uint32_t>(large.size());
    std::uint32_t const fit = mpi_transport::k_credit / mpi_transport::cost_of(large.size());
    ASSERT_LT(fit, mpi_transport::k_credit / 2);
    for (int round = 0; round < 20; ++round) {
        std::uint32_t sent = 0;
        while (f.at(0).try_send(1, head, large.data())) ++sent;
        EXPECT_GE(sent, fit / 2) << round;
        EXPECT_LE(sent, fit) << round;
        std::uint64_t small = 0;
        while (send(f.at(0), 1, small)) ++small;
        EXPECT_LT(small, mpi_transport::cost_of(large.size())) << round;
        EXPECT_EQ(all_at(f.at(1)).size(), sent + small) << round;
        EXPECT_TRUE(all_at(f.at(0)).empty()) << "it only tells that it has polled them";
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

// Who waits for it would wait for the look, too.
TEST(mpi_transport, nobody_probes_behind_a_message_that_comes_alone) {
    fleet const f = call_mpi(2);
    for (std::uint64_t k = 0; k < 3; ++k) {
        ASSERT_TRUE(send(f.at(1), 0, k));
        std::size_t const before = f.mpi->vain_probes();
        collector c;
        EXPECT_TRUE(f.at(0).poll(c));
        EXPECT_EQ(c.messages.size(), 1U);
        EXPECT_EQ(f.mpi->vain_probes(), before);
        EXPECT_FALSE(f.at(0).poll(c));
        EXPECT_EQ(f.mpi->vain_probes(), before + 1);
    }
}

TEST(mpi_transport, messages_that_come_together_are_taken_together) {
    fleet const f = call_mpi(2);
    for (std::uint64_t k = 0; k < 10; ++k) ASSERT_TRUE(send(f.at(1), 0, k));
    collector c;
    EXPECT_TRUE(f.at(0).poll(c));
    EXPECT_EQ(c.messages.size(), 1U);
    EXPECT_TRUE(f.at(0).poll(c));
    EXPECT_EQ(c.messages.size(), 10U);
}

// A header that only tells how much has been polled is no message that anybody waits for.
TEST(mpi_transport, news_are_not_taken_for_a_message) {
    fleet const f = call_mpi(2);
    for (std::uint64_t k = 0; k < mpi_transport::k_credit / 2; ++k)
        ASSERT_TRUE(send(f.at(0), 1, k));
    EXPECT_EQ(all_at(f.at(1)).size(), mpi_transport::k_credit / 2); // and tells so
    ASSERT_TRUE(send(f.at(1), 0, 7));
    collector c;
    EXPECT_TRUE(f.at(0).poll(c));
    EXPECT_EQ(c.messages.size(), 1U);
}

TEST(mpi_transport, what_is_still_under_way_keeps_its_bytes) {
    constexpr rank k_places = 10;
    fleet const f = call_mpi(k_places);
    f.mpi->hold_sends();
    std::vector<std::uint64_t> sent(k_places);
    rank last = 1; // the first one that gets nothing, as all are under way
    for (; last < k_places && send(f.at(0), last, 0); ++last)
        sent[last] = 1 + send_until_full(f.at(0), last, 100);
    ASSERT_LT(last, k_places);
    f.mpi->release_sends();
    EXPECT_TRUE(send(f.at(0), last, 0));
    for (rank r = 1; r < last; ++r) {
        std::vector<message> const arrived = all_at(f.at(r));
        EXPECT_EQ(arrived.size(), sent[r]);
        for (std::size_t k = 1; k < arrived.size(); ++k)
            EXPECT_EQ(arrived[k].payload, some_bytes(100, 1)) << k;
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

// -- streams

class movements final : public receiver {
public:
    void deliver(packet const& /*head*/, std::byte const* /*payload*/) noexcept override {
        ADD_FAILURE() << "a message";
    }
    void moved(rank peer, std::uint64_t cookie, bool was_sent) noexcept override {
        (was_sent ? sent : received).insert({cookie, peer});
        ++count;
    }
    std::map<std::uint64_t, rank> sent, received; // peers
    std::size_t count = 0;
};

void poll_all(fleet const& f, movements& to, std::size_t expected) {
    for (int k = 0; k < 1000 && to.count < expected; ++k)
        for (auto const& p : f.places) p->poll(to);
    EXPECT_EQ(to.count, expected);
}

TEST(mpi_streams, move_payloads_of_all_sizes_at_once) {
    fleet const f = call_mpi(3);
    std::vector<std::size_t> const sizes{
        0, 1, 5000, mpi_streams::k_piece, mpi_streams::k_piece + 1, 11 * mpi_streams::k_piece + 7};
    std::vector<std::vector<std::byte>> there;
    std::vector<std::vector<std::byte>> here;
    for (std::uint64_t k = 0; k < 2 * sizes.size(); ++k) {
        there.push_back(some_bytes(sizes[k / 2], k + 1));
        here.emplace_back(there.back().size());
    }
    movements all;
    for (std::uint64_t k = 0; k < here.size(); ++k) { // both others send to place 0
        auto const from = static_cast<rank>(1 + k % 2);
        std::uint32_t const number = f.at(0).begin_receive(from, here[k], k);
        ASSERT_NE(number, 0U);
        ASSERT_TRUE(f.at(from).begin_send(0, number, there[k], 100 + k));
    }
    poll_all(f, all, 2 * here.size());
    EXPECT_EQ(here, there);
    for (std::uint64_t k = 0; k < here.size(); ++k) {
        EXPECT_EQ(all.received.at(k), 1 + k % 2);
        EXPECT_EQ(all.sent.at(100 + k), 0U);
    }
    EXPECT_FALSE(f.at(0).poll(all));
}

TEST(mpi_streams, numbers_are_used_again) {
    fleet const f = call_mpi(2);
    std::vector<std::byte> const there = some_bytes(100, 1);
    std::vector<std::byte> here(there.size());
    std::uint32_t taken = 0;
    while (f.at(0).begin_receive(1, here, 0) != 0) ++taken;
    EXPECT_EQ(taken, mpi_streams::k_most_receives);
    movements all;
    ASSERT_TRUE(f.at(1).begin_send(0, 5, there, 0));
    poll_all(f, all, 2);
    EXPECT_EQ(f.at(0).begin_receive(1, here, 0), 5U);
}

TEST(mpi_streams, what_is_not_done_is_left_behind_at_the_end) {
    fleet const f = call_mpi(2);
    std::vector<std::byte> here(100);
    ASSERT_NE(f.at(0).begin_receive(1, here, 0), 0U);
    movements all;
    EXPECT_TRUE(f.at(0).poll(all)); // it may come soon
    f.at(0).close();
    EXPECT_EQ(f.at(0).begin_receive(1, here, 0), 0U);
    EXPECT_EQ(all.count, 0U);
}

TEST(mpi_streams, places_of_one_host_have_none) {
    fleet const f = on_two_hosts(3);
    std::vector<std::byte> here(100);
    EXPECT_EQ(f.at(0).begin_receive(2, here, 0), 0U);
    EXPECT_NE(f.at(0).begin_receive(1, here, 0), 0U);
}

// Workers may be computing: then who sleeps has to see to it.
TEST(mpi_streams, one_that_begins_ends_a_sleep) {
    for (auto const make : {&call_mpi, &on_two_hosts}) {
        fleet const f = make(2);
        f.at(0).arm();
        std::thread sleeper([&f] { f.at(0).sleep(os::k_no_deadline); });
        // It sleeps by then, most likely.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::vector<std::byte> here(100);
        EXPECT_NE(f.at(0).begin_receive(1, here, 0), 0U);
        sleeper.join();
    }
}

TEST(poll_pauses, are_close_at_first_and_grow_rare) {
    std::uint64_t now = 1'000'000'000;
    poll_pauses pauses(now);
    EXPECT_LE(pauses.next(now, 0), now);
    now += poll_pauses::k_spin_ns;
    std::uint64_t last = 0;
    for (int k = 0; k < 20; ++k) {
        std::uint64_t const pause = pauses.next(now, 1000) - now;
        EXPECT_GE(pause, last);
        now += pause;
        last = pause;
    }
    EXPECT_EQ(last, poll_pauses::k_last_ns);
}

TEST(poll_pauses, stay_close_while_the_process_computes) {
    std::uint64_t now = 1'000'000'000;
    poll_pauses pauses(now);
    now += poll_pauses::k_spin_ns;
    for (int k = 0; k < 100; ++k) {
        std::uint64_t const pause = pauses.next(now, now) - now; // one processor all the time
        EXPECT_LE(pause, poll_pauses::k_computing_ns);
        now += pause;
    }
    now = pauses.next(now, now);
    EXPECT_GT(pauses.next(now, 1) - now, 0U);
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
        most = std::max(most, static_cast<std::uint64_t>(std::count_if(
                                  order.begin(), at, [at](std::uint64_t n) { return n > *at; })));
    return most;
}

TEST(loopback_transport, no_message_is_passed_over_for_ever) {
    EXPECT_EQ(order_with({.seed = 1, .most_delay = 0}), up_to(200));
    for (std::uint32_t const most : {1U, 2U, 8U, 50U})
        EXPECT_EQ(most_passed_over(order_with({.seed = 1, .most_delay = most}, 500)), most);
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
