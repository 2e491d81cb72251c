// SPDX-License-Identifier: Apache-2.0
//
// Who gets which CPUs: chosen machines, and properties of random ones.
#include "base/sanitize.hpp"
#include "cpus/division.hpp"
#include "stress.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using cpus::program;
using sets = std::vector<std::vector<int>>;

os::locality flat(int) { return {0, 0}; }
os::locality two_nodes(int cpu) { return {cpu / 8, cpu / 4}; } // of 8 CPUs, each with two caches

std::vector<int> cpus_from(int first, int end) {
    std::vector<int> all(static_cast<std::size_t>(end - first));
    std::iota(all.begin(), all.end(), first);
    return all;
}

program wants_all(int machine, std::vector<int> has = {}, int weight = 1) {
    return {cpus_from(0, machine), std::move(has), 1, machine, weight};
}

std::vector<std::size_t> sizes(sets const& division) {
    std::vector<std::size_t> result;
    for (auto const& each : division) result.push_back(each.size());
    return result;
}

bool are_disjoint(sets const& division) {
    std::set<int> seen;
    return std::all_of(division.begin(), division.end(), [&](auto const& each) {
        return std::all_of(each.begin(), each.end(), [&](int c) { return seen.insert(c).second; });
    });
}

// CPUs that programs had and have no longer.
std::size_t lost(std::vector<program> const& before, sets const& after) {
    std::size_t sum = 0;
    for (std::size_t p = 0; p < before.size(); ++p)
        for (int const cpu : before[p].has)
            sum += std::count(after[p].begin(), after[p].end(), cpu) == 0 ? 1 : 0;
    return sum;
}

TEST(division, nobody) { EXPECT_TRUE(cpus::divide({}, flat).empty()); }

TEST(division, one_program_has_all_that_it_wants) {
    for (int const machine : {1, 2, 8, 64})
        EXPECT_EQ(cpus::divide(std::vector{wants_all(machine)}, flat), sets{cpus_from(0, machine)});
    program modest = wants_all(8);
    modest.most = 3;
    EXPECT_EQ(sizes(cpus::divide(std::vector{modest}, flat)), std::vector<std::size_t>{3});
}

TEST(division, equal_programs_get_equal_parts_that_are_disjoint) {
    for (int const machine : {2, 8, 64}) {
        auto const found = cpus::divide(std::vector{wants_all(machine), wants_all(machine)}, flat);
        EXPECT_EQ(sizes(found), std::vector<std::size_t>(2, static_cast<std::size_t>(machine) / 2));
        EXPECT_TRUE(are_disjoint(found));
    }
}

TEST(division, a_newcomer_takes_half_and_the_other_keeps_half) {
    std::vector const programs{wants_all(8, cpus_from(0, 8)), wants_all(8)};
    EXPECT_EQ(cpus::divide(programs, flat), (sets{cpus_from(0, 4), cpus_from(4, 8)}));
}

TEST(division, a_newcomer_moves_nobody_more_than_needed) {
    std::vector const programs{wants_all(8, cpus_from(0, 4)), wants_all(8, cpus_from(4, 8)),
                               wants_all(8)};
    auto const found = cpus::divide(programs, flat);
    EXPECT_EQ(sizes(found), (std::vector<std::size_t>{3, 3, 2}));
    EXPECT_EQ(lost(programs, found), 2U);
}

TEST(division, a_program_that_stays_takes_what_another_leaves) {
    EXPECT_EQ(cpus::divide(std::vector{wants_all(2, {1})}, flat), sets{cpus_from(0, 2)});
    std::vector const programs{wants_all(9, {0, 1, 2}), wants_all(9, {6, 7, 8})};
    auto const found = cpus::divide(programs, flat);
    EXPECT_EQ(lost(programs, found), 0U);
    EXPECT_EQ(found[0].size() + found[1].size(), 9U);
}

TEST(division, weights_decide) {
    EXPECT_EQ(sizes(cpus::divide(std::vector{wants_all(64, {}, 3), wants_all(64)}, flat)),
              (std::vector<std::size_t>{48, 16}));
    EXPECT_EQ(sizes(cpus::divide(std::vector{wants_all(8, {}, 1000), wants_all(8)}, flat)),
              (std::vector<std::size_t>{7, 1}));
}

TEST(division, least_goes_before_weight) {
    program first = wants_all(8);
    first.least = 5;
    EXPECT_EQ(sizes(cpus::divide(std::vector{first, wants_all(8, {}, 10)}, flat)),
              (std::vector<std::size_t>{5, 3}));
}

TEST(division, everybody_gets_one_before_anybody_gets_its_least) {
    program greedy = wants_all(4);
    greedy.least = 4;
    EXPECT_EQ(sizes(cpus::divide(std::vector{greedy, greedy, greedy}, flat)),
              (std::vector<std::size_t>{2, 1, 1}));
}

TEST(division, what_one_does_not_want_goes_to_the_others) {
    program modest = wants_all(8, {}, 5);
    modest.most = 2;
    EXPECT_EQ(sizes(cpus::divide(std::vector{modest, wants_all(8)}, flat)),
              (std::vector<std::size_t>{2, 6}));
}

TEST(division, more_programs_than_processors_share_evenly) {
    auto const found = cpus::divide(std::vector<program>(6, wants_all(2)), flat);
    std::map<int, int> programs_of;
    for (auto const& each : found) {
        ASSERT_EQ(each.size(), 1U);
        ++programs_of[each[0]];
    }
    EXPECT_EQ(programs_of, (std::map<int, int>{{0, 3}, {1, 3}}));
}

// The one that may use both must leave the processor that is the other one's only one, though it
// has it.
TEST(division, a_program_with_a_choice_makes_room_for_one_without) {
    std::vector const programs{program{{0, 1}, {0}, 1, 2, 1}, program{{0}, {}, 1, 1, 1}};
    EXPECT_EQ(cpus::divide(programs, flat), (sets{{1}, {0}}));
}

TEST(division, disjoint_masks_do_not_meet) {
    std::vector const programs{program{{0, 1}, {}, 1, 8, 1}, program{{5, 6, 7}, {}, 1, 8, 1}};
    EXPECT_EQ(cpus::divide(programs, flat), (sets{{0, 1}, {5, 6, 7}}));
}

TEST(division, a_processor_that_is_no_longer_allowed_is_left) {
    EXPECT_EQ(cpus::divide(std::vector{program{{2, 3}, {0, 1, 2}, 1, 2, 1}}, flat), (sets{{2, 3}}));
}

TEST(division, neighbours_stay_together) {
    std::vector<program> const two(2, wants_all(16));
    EXPECT_EQ(cpus::divide(two, two_nodes), (sets{cpus_from(0, 8), cpus_from(8, 16)}));
    std::vector<program> const four(4, wants_all(16));
    EXPECT_EQ(cpus::divide(four, two_nodes),
              (sets{cpus_from(0, 4), cpus_from(4, 8), cpus_from(8, 12), cpus_from(12, 16)}));
    std::vector const newcomer{wants_all(16, cpus_from(0, 16)), wants_all(16)};
    EXPECT_EQ(cpus::divide(newcomer, two_nodes), (sets{cpus_from(0, 8), cpus_from(8, 16)}));
}

// --- properties ----------------------------------------------------------------------------------

class random_machine {
public:
    explicit random_machine(std::uint64_t seed) : m_random(seed) {
        m_size = pick({1, 2, 3, 8, 16, 64});
    }

    [[nodiscard]] std::vector<program> programs() {
        std::vector<program> made;
        for (int n = 1 + below(2 * m_size > 20 ? 20 : 2 * m_size); n > 0; --n)
            made.push_back(next());
        return made;
    }
    [[nodiscard]] program next() {
        program p;
        int const density = pick({0, 1, 3});
        for (int cpu = 0; cpu < m_size; ++cpu)
            if (density == 0 || below(density + 1) != 0) p.may.push_back(cpu);
        if (p.may.empty()) p.may.push_back(below(m_size));
        p.most = 1 + below(m_size + 2);
        p.least = 1 + below(p.most);
        p.weight = pick({1, 1, 2, 3, 10});
        return p;
    }
    [[nodiscard]] int below(int n) {
        return static_cast<int>(m_random.below(static_cast<std::uint32_t>(n)));
    }

private:
    [[nodiscard]] int pick(std::vector<int> const& of) {
        return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
    }

    base::rng m_random;
    int m_size;
};

// Whether each may have one of its own (Hall), by trying all: the slow way, for comparison.
bool can_all_have_one(std::vector<program> const& programs, std::map<int, std::size_t>& taken,
                      std::size_t p, std::set<int>& tried) {
    for (int const cpu : programs[p].may) {
        if (!tried.insert(cpu).second) continue;
        auto const holder = taken.find(cpu);
        if (holder != taken.end() && !can_all_have_one(programs, taken, holder->second, tried))
            continue;
        taken[cpu] = p;
        return true;
    }
    return false;
}
bool can_all_have_one(std::vector<program> const& programs) {
    std::map<int, std::size_t> taken;
    for (std::size_t p = 0; p < programs.size(); ++p) {
        std::set<int> tried;
        if (!can_all_have_one(programs, taken, p, tried)) return false;
    }
    return true;
}

void check_division(std::vector<program> const& programs, sets const& found) {
    ASSERT_EQ(found.size(), programs.size());
    std::set<int> used;
    for (std::size_t p = 0; p < found.size(); ++p) {
        ASSERT_FALSE(found[p].empty());
        ASSERT_TRUE(std::is_sorted(found[p].begin(), found[p].end()));
        ASSERT_LE(found[p].size(), static_cast<std::size_t>(programs[p].most));
        for (int const cpu : found[p])
            ASSERT_NE(std::count(programs[p].may.begin(), programs[p].may.end(), cpu), 0);
        used.insert(found[p].begin(), found[p].end());
    }
    ASSERT_EQ(are_disjoint(found), can_all_have_one(programs));
    for (std::size_t p = 0; p < found.size(); ++p) { // nothing that somebody wants lies idle
        if (found[p].size() == static_cast<std::size_t>(programs[p].most)) continue;
        for (int const cpu : programs[p].may)
            ASSERT_TRUE(used.contains(cpu)) << "program " << p << ", CPU " << cpu;
    }
}

void adopt(std::vector<program>& programs, sets const& found) {
    for (std::size_t p = 0; p < programs.size(); ++p) programs[p].has = found[p];
}

// Somebody comes, goes, or changes its wish.
void change(std::vector<program>& programs, random_machine& machine) {
    switch (auto const which = programs.begin() + machine.below(static_cast<int>(programs.size()));
            machine.below(3)) {
        case 0: programs.insert(which, machine.next()); break;
        case 1:
            if (programs.size() > 1) programs.erase(which);
            break;
        default:
            which->most = 1 + machine.below(static_cast<int>(which->may.size()));
            which->least = 1 + machine.below(which->most);
    }
}

void check_history(std::uint64_t seed) {
    random_machine machine(seed);
    std::vector<program> programs = machine.programs();
    for (int step = 0; step < 12; ++step) {
        sets const found = cpus::divide(programs, two_nodes);
        ASSERT_NO_FATAL_FAILURE(check_division(programs, found)) << "step " << step;
        adopt(programs, found);
        // Whatever whoever divides knows of the machine.
        ASSERT_EQ(cpus::divide(programs, flat), found) << "step " << step;
        change(programs, machine);
    }
}

TEST(division, properties_of_random_machines) {
    std::uint64_t const first = seed();
    print_seed("division");
    // One thread computes: what a sanitizer might find it finds in few of them.
    constexpr bool k_is_slow = base::k_thread_sanitizer || base::k_address_sanitizer;
    constexpr std::uint64_t k_machines = k_is_slow ? 30 : 300;
    for (std::uint64_t k = 0; k < k_machines; ++k) {
        SCOPED_TRACE("TULLE_TEST_SEED=" + std::to_string(first + k));
        ASSERT_NO_FATAL_FAILURE(check_history(first + k));
    }
}

// With equal programs that all want everything, one that comes or goes moves no more than its own
// part and a remainder.
TEST(division, few_move_when_one_comes_or_goes) {
    for (int const machine : {8, 64}) {
        std::vector<program> programs;
        for (int n = 1; n <= 7; ++n) {
            programs.push_back(wants_all(machine));
            auto const found = cpus::divide(programs, two_nodes);
            EXPECT_EQ(lost(programs, found), n == 1 ? 0U : found.back().size());
            adopt(programs, found);
        }
        while (programs.size() > 1) {
            programs.erase(programs.begin());
            auto const found = cpus::divide(programs, two_nodes);
            EXPECT_EQ(lost(programs, found), 0U);
            adopt(programs, found);
        }
    }
}

} // namespace
