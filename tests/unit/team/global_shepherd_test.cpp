// SPDX-License-Identifier: Apache-2.0
//
// Shepherds of all places, over virtual networks: three places whose workers are in two shepherds.
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/c/activity.h>
#include <tulle/c/shepherd.h>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using tulle::global_shepherd;
using tulle::place;

std::vector<global_shepherd> six() { return {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}; }

void expect_error(int number, auto f) {
    try {
        f();
        ADD_FAILURE();
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code().value(), number) << e.what();
    }
}

class global_shepherd_test : public testing::TestWithParam<named_network> {
protected:
    void SetUp() override {
        tulle::set_option("shepherds", "2");
        tulle::initialize({.workers = 4});
        m_places.emplace(4, GetParam().options, loopback_settings{.memory_places = 1});
    }
    void TearDown() override {
        m_places.reset();
        tulle::finalize();
        tulle::set_option("shepherds", "auto");
    }

private:
    std::optional<loopback_places> m_places;
};
INSTANTIATE_TEST_SUITE_P(networks, global_shepherd_test, unlike_networks(), network_name);

TEST_P(global_shepherd_test, are_those_of_all_places_in_order) {
    EXPECT_EQ(tulle::global_shepherds(), six());
    EXPECT_EQ(tulle::at(place(2), [] { return tulle::global_shepherds(); }), six());
}

TEST_P(global_shepherd_test, a_thread_that_is_started_there_says_so) {
    for (global_shepherd const s : six()) {
        auto const seen = tulle::at(
            s, [](int x) { return std::pair(tulle::this_thread::get_location(), x); }, 7);
        EXPECT_EQ((global_shepherd{seen.first.place, seen.first.shepherd}), s);
        EXPECT_GE(seen.first.worker, 0);
        EXPECT_GE(seen.first.cpu, 0);
        EXPECT_EQ(seen.second, 7);
    }
}

TEST_P(global_shepherd_test, activities_stay_there_and_belong_to_their_finish) {
    static std::atomic<int> s_elsewhere{0}, s_ran{0};
    s_elsewhere = s_ran = 0;
    tulle::finish([](tulle::activities& all) {
        for (global_shepherd const s : six())
            all.async_at(
                place(s.place),
                tulle::on_shepherd(s.shepherd,
                                   [](global_shepherd wanted) {
                                       for (int k = 0; k < 20; ++k) {
                                           auto const here = tulle::this_thread::get_location();
                                           if (global_shepherd{here.place, here.shepherd} != wanted)
                                               ++s_elsewhere;
                                           tulle::this_thread::yield();
                                       }
                                       tulle::this_activity::async_at(place(0), [] { ++s_ran; });
                                   }),
                s);
    });
    EXPECT_EQ(s_ran, 6);
    EXPECT_EQ(s_elsewhere, 0);
}

TEST_P(global_shepherd_test, a_thread_that_visits_goes_back_where_it_was_placed) {
    auto const visit = [](int other) {
        static_cast<void>(tulle::at(global_shepherd{0, other}, [other] {
            EXPECT_EQ(tulle::this_thread::shepherd_index(), other);
            return 0;
        }));
    };
    tulle::spawn({.shepherd = 1}, [&] {
        visit(0);
        for (int k = 0; k < 20; ++k) {
            EXPECT_EQ(tulle::this_thread::shepherd_index(), 1);
            tulle::this_thread::yield();
        }
    }).join();
    std::thread([&] { // which is on no shepherd
        visit(1);
        EXPECT_EQ(tulle::this_thread::get_location().shepherd, -1);
        EXPECT_EQ(tulle::this_thread::get_location().worker, -1);
    })
        .join();
    EXPECT_THROW(tulle::at(global_shepherd{0, 0}, [] { throw std::runtime_error("there"); }),
                 std::runtime_error);
}

TEST_P(global_shepherd_test, distances_grow_with_what_lies_between) {
    bool const shares = GetParam().options.shares_segments;
    for (global_shepherd const a : six())
        for (global_shepherd const b : six()) {
            int const distance = tulle::shepherd_distance(a, b);
            EXPECT_EQ(distance, tulle::shepherd_distance(b, a));
            if (a == b)
                EXPECT_EQ(distance, 0);
            else if (a.place == b.place)
                EXPECT_EQ(distance, tulle::shepherd_distance(a.shepherd, b.shepherd));
            else
                EXPECT_GE(distance,
                          10 + (shares ? tulle::k_distance_of_places : tulle::k_distance_of_hosts));
        }
}

TEST_P(global_shepherd_test, the_nearest_come_first) {
    for (global_shepherd const from : six()) {
        std::vector<global_shepherd> const others = tulle::nearest_shepherds(from);
        auto all = others;
        all.push_back(from);
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, six());
        int before = 0;
        for (global_shepherd const s : others) {
            int const distance = tulle::shepherd_distance(from, s);
            EXPECT_GE(distance, before);
            before = distance;
        }
        EXPECT_EQ(others.front(), (global_shepherd{from.place, 1 - from.shepherd}));
        EXPECT_EQ(others[1].place, (from.place + 1) % 3);
    }
}

TEST_P(global_shepherd_test, shepherds_that_do_not_exist) {
    auto const nothing = [] {};
    EXPECT_THROW(tulle::at(global_shepherd{4, 0}, nothing), std::out_of_range);
    EXPECT_THROW(tulle::at(global_shepherd{-1, 0}, nothing), std::out_of_range);
    EXPECT_THROW(static_cast<void>(tulle::shepherd_distance({0, 0}, {4, 0})), std::out_of_range);
    for (int const s : {-1, 2, 1000}) {
        expect_error(EINVAL, [&] { tulle::at(global_shepherd{0, s}, nothing); });
        expect_error(EINVAL, [&] { static_cast<void>(tulle::node_of_shepherd(s)); });
        expect_error(EINVAL, [&] {
            static_cast<void>(tulle::shepherd_distance(global_shepherd{0, s}, {0, 0}));
        });
        // Standard exceptions arrive as themselves.
        expect_error(EINVAL, [&] { tulle::at(global_shepherd{1, s}, nothing); });
    }
    expect_error(EOPNOTSUPP, [&] { tulle::at(global_shepherd{3, 0}, nothing); });
    expect_error(EOPNOTSUPP, [&] {
        static_cast<void>(tulle::nearest_shepherds(global_shepherd{3, 0}));
    });
}

void tell_where(void const* argument, std::size_t size, void* result, std::size_t result_size) {
    EXPECT_EQ(std::string(static_cast<char const*>(argument), size), "where");
    ASSERT_EQ(result_size, sizeof(tulle_location_t));
    tulle_location_t here;
    EXPECT_EQ(tulle_get_location(&here), 0);
    std::memcpy(result, &here, sizeof here);
}

TEST_P(global_shepherd_test, in_c) {
    tulle_location_t seen{};
    for (global_shepherd const s : six()) {
        ASSERT_EQ(tulle_call_at_shepherd(s.place, s.shepherd, &tell_where, "where", 5, &seen,
                                         sizeof seen),
                  0);
        EXPECT_EQ((global_shepherd{seen.place, seen.shepherd}), s);
    }
    EXPECT_EQ(tulle_shepherd_count_at(2), 2);
    EXPECT_EQ(tulle_shepherd_count_at(3), -EOPNOTSUPP);
    EXPECT_EQ(tulle_shepherd_count_at(4), -EINVAL);
    EXPECT_EQ(tulle_global_shepherd_distance(1, 1, 1, 1), 0);
    EXPECT_EQ(tulle_global_shepherd_distance(0, 1, 2, 0), tulle::shepherd_distance({0, 1}, {2, 0}));
    EXPECT_EQ(tulle_global_shepherd_distance(0, 1, 4, 0), -EINVAL);
    EXPECT_EQ(tulle_global_shepherd_distance(-1, 1, 1, 0), -EINVAL);
    EXPECT_EQ(tulle_global_shepherd_distance(0, 9, 0, 0), -EINVAL);
    EXPECT_EQ(tulle_get_location(nullptr), -EINVAL);
    EXPECT_EQ(tulle_node_of_shepherd(0), tulle::node_of_shepherd(0));
    EXPECT_EQ(tulle_node_of_shepherd(7), -EINVAL);
    EXPECT_EQ(tulle_call_at_shepherd(1, 5, &tell_where, "where", 5, &seen, sizeof seen), -EINVAL);
    EXPECT_EQ(tulle_call_at_shepherd(3, 0, &tell_where, "where", 5, &seen, sizeof seen),
              -EOPNOTSUPP);
    EXPECT_EQ(tulle_call_at_shepherd(1, 0, nullptr, nullptr, 0, nullptr, 0), -EINVAL);
}

} // namespace
