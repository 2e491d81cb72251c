// SPDX-License-Identifier: Apache-2.0
//
// Barriers of places that share memory, of one host or two. Here they are all in this process;
// tests/tools/places/meet_test.py has processes.
#include "base/sanitize.hpp"
#include "counting_transport.hpp"
#include "fake_mpi.hpp"
#include "loopback_places.hpp"
#include "net/host_transport.hpp"
#include "net/shm_transport.hpp"

#include <tulle/team.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using tulle::net::rank;
using tulle::net::session;

constexpr rank k_most = 17; // three rounds

// Places 0, hosts, 2 hosts, ... share memory, and so on.
class places_of_hosts {
public:
    places_of_hosts(rank count, rank hosts, bool survives = false)
        : m_network(count), m_counts(count) {
        for (rank h = 0; h < hosts; ++h)
            m_sessions.push_back(
                session::create(std::max<rank>((count - h + hosts - 1) / hosts, 1)));
        for (rank r = 0; r < count; ++r) {
            auto counting =
                std::make_unique<counting_transport>(join(r, count, hosts), m_counts[r]);
            m_places.push_back(
                std::make_unique<tulle::membership::place_services>(std::move(counting)));
            if (survives) m_places.back()->messages.survive_deaths();
        }
        for (auto const& one : m_places) one->messages.start();
        m_context.at = &m_places.front()->messages;
        m_scoped_context.emplace(m_context);
    }
    // On the only host.
    void kill(rank which) const { m_sessions.front().declare_dead(which, SIGKILL); }
    [[nodiscard]] std::uint64_t messages() const {
        std::uint64_t sum = 0;
        for (message_counts const& one : m_counts) sum += one.sent;
        return sum;
    }

private:
    std::unique_ptr<tulle::net::transport> join(rank r, rank count, rank hosts) {
        session const& own = m_sessions[r % hosts];
        own.entry(r / hosts).process = getpid();
        auto near = std::make_unique<tulle::net::shm_transport>(
            session::adopt(dup(own.memory().descriptor())), r / hosts);
        if (hosts == 1) return near;
        std::vector<rank> ranks;
        for (rank same = r % hosts; same < count; same += hosts) ranks.push_back(same);
        auto far = std::make_unique<tulle::net::mpi_transport>(fake_mpi::functions(),
                                                               m_network.join(r), r, count, true);
        return std::make_unique<tulle::net::host_transport>(std::move(near), std::move(ranks),
                                                            std::move(far));
    }

    fake_mpi m_network;
    std::vector<session> m_sessions;
    std::vector<message_counts> m_counts;
    std::vector<std::unique_ptr<tulle::membership::place_services>> m_places;
    tulle::messenger::place_context m_context;
    std::optional<tulle::messenger::scoped_context> m_scoped_context;
};

template <class F, class... A> void at_all_of_team(F f, A const&... arguments) {
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, f, arguments...);
    });
}

class barrier_round_test : started, public testing::TestWithParam<std::pair<rank, rank>> {
protected:
    // ThreadSanitizer does not know that all places see the same memory, each at its own addresses.
    void SetUp() override {
        if (tulle::base::k_thread_sanitizer) GTEST_SKIP() << "one memory at several addresses";
        m_places = std::make_unique<places_of_hosts>(GetParam().first, GetParam().second);
    }
    std::unique_ptr<places_of_hosts> m_places;
};

std::array<std::atomic<int>, k_most> s_phases_of;

void expect_all_at(int phase) {
    for (tulle::place const p : tulle::places())
        EXPECT_GE(s_phases_of[static_cast<std::size_t>(p.index())].load(), phase) << p.index();
}

TEST_P(barrier_round_test, nobody_passes_before_all_have_come) {
    for (auto& one : s_phases_of) one = 0;
    at_all_of_team([] {
        tulle::team const all;
        for (int phase = 1; phase <= 300; ++phase) {
            // The others wait for a message.
            if (phase % 50 == all.rank()) tulle::this_thread::sleep_for(1ms);
            s_phases_of[static_cast<std::size_t>(all.rank())].store(phase);
            all.barrier();
            expect_all_at(phase);
        }
    });
}

TEST_P(barrier_round_test, among_other_operations_of_the_team) {
    at_all_of_team([] {
        tulle::team const all;
        for (int k = 0; k < 100; ++k) {
            all.barrier();
            int value = all.rank() == 0 ? k : -1;
            all.broadcast(value);
            EXPECT_EQ(value, k);
            if (k % 3 == 0) all.barrier();
            EXPECT_EQ(all.allreduce(1), all.size());
            if (k % 20 == all.rank()) tulle::this_thread::sleep_for(1ms);
        }
    });
}

// One worker of a place may have several threads.
TEST_P(barrier_round_test, beside_threads_that_others_wait_for) {
    static std::atomic<int> s_turns;
    s_turns = 0;
    at_all_of_team([] {
        auto other = tulle::spawn([] {
            for (int k = 0; k < 1000; ++k) tulle::this_thread::yield();
            s_turns.fetch_add(1);
        });
        tulle::team const all;
        if (all.rank() == 0) other.join(); // first
        all.barrier();
        if (all.rank() != 0) other.join();
    });
    EXPECT_EQ(s_turns.load(), tulle::place_count());
}

std::string name_of_hosts(testing::TestParamInfo<std::pair<rank, rank>> const& of) {
    return std::to_string(of.param.first) + "_places_of_" + std::to_string(of.param.second);
}
INSTANTIATE_TEST_SUITE_P(hosts, barrier_round_test,
                         testing::Values(std::pair(1U, 1U), std::pair(2U, 1U), std::pair(4U, 1U),
                                         std::pair(7U, 1U), std::pair(17U, 1U), std::pair(2U, 2U),
                                         std::pair(4U, 2U), std::pair(7U, 3U), std::pair(17U, 2U)),
                         &name_of_hosts);

class barrier_of_one_host : started, public testing::Test {
protected:
    void SetUp() override {
        if (tulle::base::k_thread_sanitizer) GTEST_SKIP() << "one memory at several addresses";
    }
};

// Of two places the last to come sees the other one, and writes to it if that one sleeps.
TEST_F(barrier_of_one_host, takes_a_message_at_most_between_two) {
    constexpr unsigned k_barriers = 200;
    places_of_hosts const both(2, 1);
    std::uint64_t const before = both.messages();
    at_all_of_team([] {
        tulle::team const all;
        for (unsigned k = 0; k < k_barriers; ++k) all.barrier();
    });
    EXPECT_LE(both.messages() - before, k_barriers + 10); // and those of the finish
}

// What became of a barrier at the places that are alive; they know it when all have tried.
enum class fate { none, passed, dead_place, collective_error };
std::array<std::atomic<fate>, k_most> s_fates;
std::atomic<int> s_tries;

void try_barrier(tulle::team const& all) {
    auto& own = s_fates[static_cast<std::size_t>(all.rank())];
    try {
        all.barrier();
        own = fate::passed;
    } catch (tulle::dead_place const&) {
        own = fate::dead_place;
    } catch (tulle::collective_error const&) { // told by one who knows
        own = fate::collective_error;
    }
    s_tries.fetch_add(1);
}

// The last place never comes. `asleep`: it dies when the others have waited for long.
void bury_one(rank places, bool asleep) {
    for (auto& one : s_fates) one = fate::none;
    s_tries = 0;
    places_of_hosts const all_places(places, 1, true);
    int const dead = static_cast<int>(places) - 1;
    tulle::finish([&](tulle::activities& all) {
        for (int p = 0; p < dead; ++p)
            all.async_at(
                tulle::place(p),
                [](int last) {
                    tulle::team const everybody;
                    for (int k = 0; k < 3; ++k) try_barrier(everybody);
                    EXPECT_TRUE(tulle::place(last).is_dead() ||
                                s_fates[static_cast<std::size_t>(everybody.rank())] !=
                                    fate::dead_place);
                },
                dead);
        if (asleep) tulle::this_thread::sleep_for(20ms);
        all_places.kill(places - 1);
    });
    EXPECT_EQ(s_tries.load(), 3 * dead);
    int told = 0;
    for (int p = 0; p < dead; ++p) {
        fate const its = s_fates[static_cast<std::size_t>(p)];
        EXPECT_TRUE(its == fate::dead_place || its == fate::collective_error) << p;
        if (its == fate::dead_place) ++told;
    }
    EXPECT_GE(told, std::min(dead, 3));
}

TEST_F(barrier_of_one_host, one_that_dies_while_others_look) {
    for (int k = 0; k < 20; ++k) bury_one(4, false);
    bury_one(7, false);
    bury_one(17, false);
}

TEST_F(barrier_of_one_host, one_that_dies_while_others_sleep) {
    bury_one(2, true);
    bury_one(4, true);
    bury_one(7, true);
    bury_one(17, true);
}

} // namespace
