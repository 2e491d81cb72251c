// SPDX-License-Identifier: Apache-2.0
// Random programs without data races, on hosts that are OS threads with copies of their own: each
// byte is what it would be on one host. Bytes of one word belong to different hosts, so that all
// write side by side.
#include "base/rng.hpp"
#include "dsm/basic_coherent_host.hpp"
#include "os/shared_memory.hpp"
#include "stress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tulle::dsm {
namespace {

constexpr std::uint32_t k_locks = 4;
constexpr std::size_t k_bytes = 8 * 1024; // of the memory that programs use

struct shape {
    host_number hosts;
    std::uint64_t unit_bytes;
    unsigned programs;
};

// The memory of a test, and where it lies in the file.
template <class Host, class File> class cluster {
public:
    explicit cluster(shape const& s)
        : m_chosen{TULLE_COHERENT_FIRST, used_chunks::k_bytes, s.unit_bytes / TULLE_COHERENT_LINE,
                   s.hosts} {
        os::shared_file const file = os::shared_file::create("coherent-test");
        EXPECT_TRUE(file.is_open() && file.grow(File(m_chosen).size()));
        for (host_number h = 0; h < s.hosts; ++h) {
            m_states.emplace_back(m_chosen.lines());
            m_hosts.push_back(
                std::make_unique<Host>(m_chosen, h, file.number(), 0, m_states.back().data()));
        }
        at(0).add({m_chosen.first_line(), m_chosen.lines()});
    }
    Host& at(host_number h) { return *m_hosts[h]; }
    [[nodiscard]] host_number hosts() const { return static_cast<host_number>(m_hosts.size()); }

    std::uint8_t load(host_number h, std::size_t offset) {
        return byte(h, offset, access_kind::load).load(std::memory_order_relaxed);
    }
    void store(host_number h, std::size_t offset, std::uint8_t value) {
        byte(h, offset, access_kind::store).store(value, std::memory_order_relaxed);
    }

private:
    // What a check of instrumented code does, and the address of the byte then.
    std::atomic_ref<std::uint8_t> byte(host_number h, std::size_t offset, access_kind wanted) {
        std::uint64_t const address = m_chosen.address + offset;
        at(h).make_usable(address, address, wanted);
        auto* const line = at(h).own().own_at(address / TULLE_COHERENT_LINE);
        return std::atomic_ref(
            *reinterpret_cast<std::uint8_t*>(line + address % TULLE_COHERENT_LINE));
    }

    geometry m_chosen;
    std::vector<std::vector<std::uint8_t>> m_states;
    std::vector<std::unique_ptr<Host>> m_hosts;
};

// Whose a byte is: a host's own in a phase, or guarded by a lock.
struct plan {
    std::vector<std::uint32_t> owners; // by byte: a host, or the number of hosts and more: a lock
    unsigned phases = 0;
    unsigned turns = 0; // of each host in a phase
};

plan random_plan(base::rng& random, host_number hosts) {
    plan made;
    made.phases = 1 + random.below(4);
    made.turns = 1 + random.below(6);
    made.owners.resize(k_bytes);
    for (auto& each : made.owners) each = random.below(hosts + std::uint32_t{k_locks});
    return made;
}

template <class Cluster> class program {
public:
    program(Cluster& on, plan const& made, std::uint64_t first)
        : m_on(on), m_plan(made), m_seed(first), m_end_of_phase(on.hosts()) {}

    // Errors found.
    std::size_t run() {
        base::rng random(m_seed);
        m_sparse = 1 + random.below(64);
        for (std::size_t b = 0; b < k_bytes; b += m_sparse) m_on.store(0, b, start_of(b));
        m_on.at(0).share();
        std::vector<std::thread> threads;
        for (host_number h = 0; h < m_on.hosts(); ++h)
            threads.emplace_back([this, h] { run_at(h); });
        for (auto& each : threads) each.join();
        return m_errors.load();
    }

private:
    static std::uint8_t start_of(std::size_t byte) { return static_cast<std::uint8_t>(byte * 7); }
    // The host that writes a byte which no lock guards moves on with each phase.
    [[nodiscard]] host_number writer(std::size_t byte, unsigned phase) const {
        return (m_plan.owners[byte] + phase) % m_on.hosts();
    }
    [[nodiscard]] bool is_guarded(std::size_t byte) const {
        return m_plan.owners[byte] >= m_on.hosts();
    }
    void run_at(host_number h) {
        base::rng random(m_seed + h + 1);
        m_on.at(h).acquire();
        for (unsigned phase = 0; phase < m_plan.phases; ++phase) {
            for (unsigned turn = 0; turn < m_plan.turns; ++turn) take_turn(h, phase, turn, random);
            meet(h);
            expect_all(h, phase + 1);
            meet(h);
        }
    }
    // Writes what is its own, then adds 1 to all that one lock guards.
    void take_turn(host_number h, unsigned phase, unsigned turn, base::rng& random) {
        if (turn == 0)
            for (std::size_t b = 0; b < k_bytes; b += m_sparse)
                if (!is_guarded(b) && writer(b, phase) == h)
                    m_on.store(h, b, static_cast<std::uint8_t>(m_on.load(h, b) + 1));
        std::uint32_t const chosen = random.below(k_locks);
        std::lock_guard const held(m_locks[chosen]);
        m_on.at(h).acquire();
        for (std::size_t b = 0; b < k_bytes; b += m_sparse)
            if (m_plan.owners[b] == m_on.hosts() + chosen)
                m_on.store(h, b, static_cast<std::uint8_t>(m_on.load(h, b) + 1));
        ++m_counts[chosen];
        m_on.at(h).release();
    }
    void meet(host_number h) {
        m_on.at(h).release();
        m_end_of_phase.arrive_and_wait();
        m_on.at(h).acquire();
    }
    void expect_all(host_number h, unsigned phases) {
        for (std::size_t b = 0; b < k_bytes; b += m_sparse) {
            unsigned const added =
                is_guarded(b) ? m_counts[m_plan.owners[b] - m_on.hosts()] : phases;
            if (m_on.load(h, b) != static_cast<std::uint8_t>(start_of(b) + added)) ++m_errors;
        }
    }

    Cluster& m_on;
    plan const& m_plan;
    std::uint64_t m_seed;
    std::barrier<> m_end_of_phase;
    std::array<std::mutex, k_locks> m_locks;
    std::array<unsigned, k_locks> m_counts{}; // guarded by these
    std::size_t m_sparse = 1;
    std::atomic<std::size_t> m_errors{0};
};

class protocol_of : public ::testing::TestWithParam<shape> {};

template <std::size_t Notices, std::size_t Fetches> void run_programs(shape const& s) {
    using host = basic_coherent_host<Notices, Fetches>;
    using made = cluster<host, basic_shared_file<Notices, Fetches>>;
    print_seed("protocol");
    for (unsigned k = 0; k < s.programs; ++k) {
        base::rng random(seed() + k);
        plan const chosen = random_plan(random, s.hosts);
        made on(s);
        std::size_t const errors = program<made>(on, chosen, random.next()).run();
        ASSERT_EQ(errors, 0U) << "with TULLE_TEST_SEED=" << seed() + k;
    }
}

TEST_P(protocol_of, random_programs_is_right) { run_programs<4096, 1024>(GetParam()); }

TEST_P(protocol_of, random_programs_is_right_with_logs_that_are_too_short) {
    run_programs<16, 16>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(hosts, protocol_of,
                         ::testing::Values(shape{2, 64, 75}, shape{2, 256, 75}, shape{3, 256, 60},
                                           shape{4, 4096, 40}),
                         [](auto const& about) {
                             return std::to_string(about.param.hosts) + "_hosts_" +
                                    std::to_string(about.param.unit_bytes) + "_bytes";
                         });

} // namespace
} // namespace tulle::dsm
