// SPDX-License-Identifier: Apache-2.0
// The protocol of coherent memory by random programs without data races
// (tests/support/coherent_programs.hpp), with logs that suffice and that are too short.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "coherent_programs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tulle::dsm::random_programs {
namespace {

shape refreshed(shape s) {
    s.outdated = outdated_copies::are_refreshed;
    return s;
}
shape with_threads(unsigned threads, shape s) {
    s.threads = threads;
    return s;
}

shape of_all_sizes(shape s) {
    s.has_all_sizes = true;
    return s;
}

class protocol_of : public ::testing::TestWithParam<shape> {};

template <std::size_t Notices, std::size_t Fetches> void run_programs(shape const& s) {
    print_seed("protocol");
    // A sanitizer, which looks at each access, needs many times as long, and finds what it looks
    // for in a few of these.
    constexpr unsigned k_share = base::k_thread_sanitizer || base::k_address_sanitizer ? 4 : 1;
    for (unsigned k = 0; k * k_share < s.programs; ++k) {
        base::rng random(seed() + k);
        plan const chosen = random_plan(random, s.all_threads());
        ASSERT_EQ((run_program<Notices, Fetches>(s, chosen, random.next())), 0U)
            << "with TULLE_TEST_SEED=" << seed() + k;
    }
}

TEST_P(protocol_of, random_programs_is_right) { run_programs<4096, 1024>(GetParam()); }

TEST_P(protocol_of, random_programs_is_right_with_logs_that_are_too_short) {
    run_programs<16, 16>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    hosts, protocol_of,
    ::testing::Values(
        shape{2, 64, 75}, shape{2, 256, 75}, shape{3, 256, 60}, shape{4, 4096, 40},
        shape{2, 256, 50, 2, 4096}, shape{4, 64, 30, 2, 512}, shape{3, 4096, 15, 3, 168},
        shape{3, 256, 30, 3, 4096}, shape{6, 64, 10, 3, 32640}, shape{4, 256, 40, 2, 4096},
        refreshed({3, 256, 60}), refreshed({2, 64, 40}), refreshed({4, 64, 20, 2, 512}),
        refreshed({3, 4096, 10, 3, 168}), with_threads(2, {2, 64, 60}),
        with_threads(3, {2, 1024, 40}), with_threads(2, {3, 256, 20, 2, 512}),
        with_threads(3, {2, 1024, 15, 2, 4096}), with_threads(2, refreshed({3, 64, 15, 2, 512})),
        with_threads(2, refreshed({2, 256, 40})), of_all_sizes({3, 256, 10}),
        of_all_sizes({3, 64, 6, 3, 4096}), of_all_sizes(refreshed({3, 4096, 6, 2, 4096})),
        of_all_sizes(with_threads(2, {2, 1024, 8})),
        of_all_sizes(with_threads(2, {2, 128, 5, 2, 512}))),
    [](auto const& about) {
        shape const& s = about.param;
        bool const is_refreshed = s.outdated == outdated_copies::are_refreshed;
        std::string const threads =
            s.threads > 1 ? "_and_" + std::to_string(s.threads) + "_threads" : "";
        return std::to_string(s.hosts) + "_hosts_on_" + std::to_string(s.machines) + "_with_" +
               std::to_string(s.unit_bytes) + "_bytes" +
               (s.has_all_sizes ? "_and_all_others" : "") + (is_refreshed ? "_refreshed" : "") +
               threads;
    });

using two_machines = cluster<4096, 1024>;
late_hosts<two_machines> const& carrier_of(two_machines& on, host_number h) {
    return dynamic_cast<late_hosts<two_machines> const&>(on.carrier(h));
}

// What both hosts have written since they last met, each its own bytes. On the way of each answer
// are two networks, and the host is locked meanwhile.
TEST(protocol, an_acquire_asks_for_all_that_has_changed_together) {
    constexpr std::size_t k_unit = 256, k_programs = 150 * 1024; // in three parts
    for (auto const outdated : {outdated_copies::are_dropped, outdated_copies::are_refreshed}) {
        shape s{2, k_unit, 1, 2, 4096};
        s.outdated = outdated;
        two_machines on(s, seed());
        auto const& far = carrier_of(on, 1);
        auto const each_unit = [](auto f) {
            for (std::size_t b = 0; b < k_programs; b += k_unit) f(b);
        };
        each_unit([&](std::size_t b) { on.store(0, b, 1); });
        on.at(0).share();
        on.at(1).acquire();
        for (std::uint8_t turn = 2; turn < 5; ++turn) { // logs name the units more than once
            each_unit([&](std::size_t b) {
                on.store(0, b, turn);                                // the home
                if (b % (3 * k_unit) != 0) on.store(1, b + 1, turn); // the others it only reads
            });
            on.at(0).release();
        }
        unsigned const before = far.waits();
        on.at(1).acquire();
        EXPECT_LE(far.waits(), before + 4);
        each_unit([&](std::size_t b) {
            EXPECT_EQ(on.load(1, b), 4);
            EXPECT_EQ(on.load(1, b + 1), b % (3 * k_unit) != 0 ? 4 : 0);
        });
    }
}

// What is counted of a host's requests, over something that it does.
class counted {
public:
    counted(two_machines& on, host_number h) : m_on(carrier_of(on, h)) { begin(); }
    void begin() {
        m_waits = m_on.waits();
        m_requests = m_on.requests();
    }
    [[nodiscard]] unsigned waits() const { return m_on.waits() - m_waits; }
    [[nodiscard]] unsigned requests() const { return m_on.requests() - m_requests; }

private:
    late_hosts<two_machines> const& m_on;
    unsigned m_waits = 0, m_requests = 0;
};

constexpr std::size_t k_request = 4096; // bytes

// A lock that goes from machine to machine waits for each of them.
TEST(protocol, a_release_of_little_is_one_request_to_the_other_machine) {
    for (auto const outdated : {outdated_copies::are_dropped, outdated_copies::are_refreshed}) {
        constexpr std::size_t k_unit = 256;
        shape s{2, k_unit, 1, 2, k_request};
        s.outdated = outdated;
        two_machines on(s, seed());
        for (std::size_t b = 0; b < 4 * k_unit; b += k_unit) on.store(0, b, 1);
        on.at(0).share();
        on.at(1).acquire();
        for (std::size_t b = 0; b < 4 * k_unit; b += k_unit) on.store(0, b, 2); // the home
        on.at(0).release();
        on.at(1).acquire();
        counted from(on, 1);
        for (std::uint8_t turn = 3; turn < 9; ++turn) {
            for (std::size_t k = 0; k < turn % 4U + 1U; ++k) on.store(1, k * k_unit, turn);
            from.begin();
            on.at(1).release();
            EXPECT_EQ(from.requests(), 1U) << int{turn};
            EXPECT_EQ(from.waits(), 1U) << int{turn};
            from.begin();
            on.at(1).release();
            EXPECT_EQ(from.requests(), 0U) << "nothing has been written since";
            on.at(0).acquire();
            EXPECT_EQ(on.load(0, 0), turn);
        }
    }
}

TEST(protocol, a_release_of_what_nobody_has_read_asks_no_other_machine) {
    two_machines on({2, 256, 1, 2, k_request}, seed());
    on.at(0).share();
    on.at(1).acquire();
    on.store(0, 0, 1); // all copies were alike
    on.at(0).release();
    on.at(1).acquire();
    counted from(on, 0);
    for (std::uint8_t turn = 2; turn < 6; ++turn) {
        on.store(0, 0, turn);
        on.at(0).release();
    }
    EXPECT_EQ(from.requests(), 0U);
    EXPECT_EQ(on.load(1, 0), 5);
    on.store(0, 0, 6);
    on.at(0).release();
    EXPECT_EQ(from.requests(), 1U) << "it has been read";
    on.at(1).acquire();
    EXPECT_EQ(on.load(1, 0), 6);
}

// Who is the first to write an array asks for all of it at once.
TEST(protocol, a_check_for_a_run_of_units_without_homes_asks_for_many_together) {
    constexpr std::size_t k_unit = 64, k_units = 2000;
    two_machines on({2, k_unit, 1, 2, k_request}, seed());
    on.at(0).share();
    on.at(1).acquire();
    counted from(on, 1); // the other machine keeps the homes
    std::uint64_t const first = TULLE_COHERENT_FIRST;
    on.at(1).make_usable(first, first + k_units * k_unit - 1, access_kind::store);
    EXPECT_GE(from.requests(), 1U);
    EXPECT_LE(from.requests(), k_units / 500U) << "of a byte for each unit";
    from.begin();
    for (std::size_t k = 0; k < k_units; ++k) on.store(1, k * k_unit, 5);
    on.at(1).release();
    EXPECT_LE(from.requests(), 2U) << "they are at home here, and alike";
    on.at(0).acquire();
    for (std::size_t k = 0; k < k_units; k += 100) EXPECT_EQ(on.load(0, k * k_unit), 5);
}

} // namespace
} // namespace tulle::dsm::random_programs
