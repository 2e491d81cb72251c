// SPDX-License-Identifier: Apache-2.0
//
// Graphs as arguments and results of calls and activities between places.
#include "loopback_places.hpp"
#include "named_network.hpp"
#include "stress.hpp"
#include "wired_graph.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using wired::edge;

class graph_travel_test : started, public testing::TestWithParam<named_network> {
protected:
    loopback_places m_places{3, GetParam().options};
};

INSTANTIATE_TEST_SUITE_P(
    networks, graph_travel_test,
    testing::Values(named_network{"in_order"}, named_network{"out_of_order", {.seed = 7}},
                    named_network{"small", {.seed = 3, .most_bytes = 512}},
                    named_network{"unreadable",
                                  {.seed = 5, .most_bytes = 600, .allows_read = false}}),
    network_name);

// The other place makes the same graph, and says what is different.
std::string compare_there(std::uint64_t round, std::vector<edge>& got) {
    wired::random_graph const expected(round);
    std::string difference = wired::comparison::difference(expected.roots, got);
    wired::end_of_graph::take_apart(std::move(got));
    return difference;
}

TEST_P(graph_travel_test, arguments_of_calls) {
    print_seed("graph_travel_test.arguments_of_calls");
    for (std::uint64_t round = seed(); round < seed() + 30; ++round) {
        wired::random_graph const sent(round);
        EXPECT_EQ(tulle::at(
                      tulle::place(1),
                      [](std::uint64_t r, std::vector<edge> got) { return compare_there(r, got); },
                      round, sent.roots),
                  "")
            << "TULLE_TEST_SEED=" << round;
    }
}

// Of which results were made; they stay until the test ends.
std::vector<std::unique_ptr<wired::random_graph>>& made_there() {
    static std::vector<std::unique_ptr<wired::random_graph>> s_made;
    return s_made;
}

TEST_P(graph_travel_test, results_of_calls) {
    print_seed("graph_travel_test.results_of_calls");
    for (std::uint64_t round = seed(); round < seed() + 30; ++round) {
        std::vector<edge> got = tulle::at(
            tulle::place(2),
            [](std::uint64_t r) {
                made_there().push_back(std::make_unique<wired::random_graph>(r));
                return made_there().back()->roots;
            },
            round);
        EXPECT_EQ(compare_there(round, got), "") << "TULLE_TEST_SEED=" << round;
    }
    made_there().clear();
}

TEST_P(graph_travel_test, activities) {
    print_seed("graph_travel_test.activities");
    static std::atomic<int> s_equal;
    s_equal = 0;
    std::vector<std::unique_ptr<wired::random_graph>> sent;
    tulle::finish([&](tulle::activities& all) {
        for (std::uint64_t round = seed(); round < seed() + 20; ++round) {
            sent.push_back(std::make_unique<wired::random_graph>(round));
            auto const compare = [](std::uint64_t r, std::vector<edge> got) {
                if (compare_there(r, got).empty()) ++s_equal;
            };
            all.async_at(tulle::place(static_cast<int>(round % 2) + 1), compare, round,
                         sent.back()->roots);
        }
    });
    EXPECT_EQ(s_equal, 20);
}

TEST_P(graph_travel_test, arguments_share_objects_with_each_other) {
    auto const one = std::make_shared<std::string>("shared");
    EXPECT_TRUE(tulle::at(
        tulle::place(1),
        [](std::shared_ptr<std::string> const& a, std::shared_ptr<std::string const> const& b,
           std::weak_ptr<std::string> const& c) {
            return a == b && c.lock() == a && *a == "shared";
        },
        one, std::shared_ptr<std::string const>(one), std::weak_ptr<std::string>(one)));
}

struct travelling_list {
    int number = 0;
    std::unique_ptr<travelling_list> next;
    ~travelling_list() {
        while (next != nullptr) next = std::move(next->next);
    }
    static std::unique_ptr<travelling_list> of_length(int length) {
        std::unique_ptr<travelling_list> first;
        for (int k = 0; k < length; ++k) {
            auto node = std::make_unique<travelling_list>();
            node->number = k;
            node->next = std::move(first);
            first = std::move(node);
        }
        return first;
    }
    static int length_of(travelling_list const* first) {
        int length = 0;
        for (; first != nullptr; first = first->next.get()) ++length;
        return length;
    }
};
using owned_list = std::unique_ptr<travelling_list>;

TEST_P(graph_travel_test, what_is_owned_goes_there_and_comes_back) {
    for (int const place : {0, 1}) { // here it is moved
        owned_list const got = tulle::at(
            tulle::place(place),
            [](owned_list list) {
                EXPECT_EQ(travelling_list::length_of(list.get()), 20'000);
                return std::move(list->next);
            },
            travelling_list::of_length(20'000));
        EXPECT_EQ(travelling_list::length_of(got.get()), 19'999);
    }
}

// At this place: threads of futures are of no place of this test.
TEST_P(graph_travel_test, a_future_of_a_graph) {
    auto future = tulle::async_at(
        tulle::place(0), [](owned_list list) { return list; }, travelling_list::of_length(3));
    EXPECT_EQ(travelling_list::length_of(future.get().get()), 3);
}

// A class that kinds_of does not name.
struct secret_mark : wired::name_mark {};

TEST_P(graph_travel_test, objects_that_cannot_travel_are_refused_where_they_are) {
    auto const look = [](std::shared_ptr<wired::mark> const&) {};
    EXPECT_THROW(tulle::at(tulle::place(1), look,
                           std::shared_ptr<wired::mark>(std::make_shared<secret_mark>())),
                 std::invalid_argument);
    auto const make = []() -> std::shared_ptr<wired::mark> {
        return std::make_shared<secret_mark>();
    };
    EXPECT_THROW(static_cast<void>(tulle::at(tulle::place(1), make)), std::invalid_argument);
    EXPECT_THROW(tulle::finish([&](tulle::activities& all) {
                     all.async_at(tulle::place(1), look,
                                  std::shared_ptr<wired::mark>(std::make_shared<secret_mark>()));
                 }),
                 std::invalid_argument);
}

} // namespace
