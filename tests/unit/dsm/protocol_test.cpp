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
        with_threads(2, refreshed({2, 256, 40}))),
    [](auto const& about) {
        shape const& s = about.param;
        bool const is_refreshed = s.outdated == outdated_copies::are_refreshed;
        std::string const threads =
            s.threads > 1 ? "_and_" + std::to_string(s.threads) + "_threads" : "";
        return std::to_string(s.hosts) + "_hosts_on_" + std::to_string(s.machines) + "_with_" +
               std::to_string(s.unit_bytes) + "_bytes" + (is_refreshed ? "_refreshed" : "") +
               threads;
    });

// What both hosts have written since they last met, each its own bytes. On the way of each answer
// are two networks, and the host is locked meanwhile.
TEST(protocol, an_acquire_asks_for_all_that_has_changed_together) {
    constexpr std::size_t k_unit = 256, k_programs = 150 * 1024; // in three parts
    for (auto const outdated : {outdated_copies::are_dropped, outdated_copies::are_refreshed}) {
        shape s{2, k_unit, 1, 2, 4096};
        s.outdated = outdated;
        using made = cluster<4096, 1024>;
        made on(s, seed());
        auto const& far = dynamic_cast<late_hosts<made> const&>(on.carrier(1));
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

} // namespace
} // namespace tulle::dsm::random_programs
