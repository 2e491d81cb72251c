// SPDX-License-Identifier: Apache-2.0
// Random programs without data races on hosts that are places: what they ask each other goes by the
// real carrier over networks that deliver late, in another order, and refuse what they may refuse.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "coherent_places.hpp"
#include "named_network.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::dsm::random_programs {
namespace {

struct unsteady_network : named_network {
    std::uint32_t refused = 0; // sends of a hundred
};

class memory_over : started, public ::testing::TestWithParam<unsteady_network> {
protected:
    template <std::size_t Notices, std::size_t Fetches> void run_programs() {
        print_seed("late messages");
        constexpr unsigned k_share = base::k_thread_sanitizer || base::k_address_sanitizer ? 3 : 1;
        for (shape const& s : shapes()) {
            if (!may_be_places(s)) continue;
            for (unsigned turn = 0; turn * k_share < s.programs; ++turn)
                ASSERT_EQ((errors_of<Notices, Fetches>(s, seed() + turn)), 0U)
                    << "on " << s.hosts << " hosts with " << s.threads << " threads and units of "
                    << s.unit_bytes << " bytes with TULLE_TEST_SEED=" << seed() + turn;
        }
    }

private:
    static std::vector<shape> shapes() {
        using enum outdated_copies;
        return {{2, 64, 3, 2, 0, are_dropped},      {3, 256, 3, 3, 0, are_refreshed},
                {2, 1024, 3, 2, 0, are_dropped, 2}, {2, 64, 3, 2, 0, are_refreshed, 3},
                {3, 4096, 3, 3, 0, are_dropped},    {4, 256, 3, 4, 0, are_dropped}};
    }
    template <std::size_t Notices, std::size_t Fetches>
    static std::size_t errors_of(shape const& s, std::uint64_t first) {
        base::rng random(first);
        plan const chosen = random_plan(random, s.all_threads());
        net::loopback_options options = GetParam().options;
        if (options.seed != 0) options.seed = random.next();
        refusals const refused{.seed = random.next(), .sends = GetParam().refused};
        loopback_places places(static_cast<int>(s.hosts), options, {.refused = refused});
        return run_program_over<Notices, Fetches>(places, s, chosen, random.next());
    }
};

TEST_P(memory_over, random_programs_is_right) { run_programs<4096, 1024>(); }

TEST_P(memory_over, random_programs_is_right_with_logs_that_are_too_short) {
    run_programs<16, 16>();
}

INSTANTIATE_TEST_SUITE_P(
    networks, memory_over,
    ::testing::Values(unsteady_network{{"in_order"}},
                      unsteady_network{{"out_of_order", {.seed = 1}}},
                      unsteady_network{{"late", {.seed = 1, .most_delay = 100}}},
                      unsteady_network{
                          {"narrow", {.seed = 1, .most_waiting = 3, .most_bytes = 512}}, 40}),
    network_name);

} // namespace
} // namespace tulle::dsm::random_programs
