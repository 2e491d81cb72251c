// SPDX-License-Identifier: Apache-2.0
//
// Places that die with work that they have taken from others: who joins it gets dead_place, all
// other work is done, and nothing hangs.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"
#include "worker_of_all_places.hpp"

#include <tulle/finish.hpp>
#include <tulle/global_fork.hpp>
#include <tulle/place.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <optional>

namespace {

class global_work_death : looks_for_all_places,
                          started,
                          public testing::TestWithParam<named_network> {
protected:
    global_work_death() { begin_looking(m_places); }
    ~global_work_death() override { end_looking(); }

    void kill(int which) { m_places.network().kill(static_cast<tulle::net::rank>(which), SIGKILL); }
    // All that live know.
    void bury(int which) {
        kill(which);
        for (int k = 0; k < which; ++k)
            while (!m_places.endpoint(k).is_dead(static_cast<tulle::net::rank>(which)))
                tulle::this_thread::yield();
    }
    loopback_places m_places{4, GetParam().options, {.survives = true}};
};

INSTANTIATE_TEST_SUITE_P(
    networks, global_work_death,
    testing::Values(named_network{"steal_areas", {}},
                    named_network{"steal_areas_out_of_order", {.seed = 7}},
                    named_network{"apart_out_of_order",
                                  {.seed = 3, .most_bytes = 512, .shares_segments = false}}),
    network_name);

std::atomic<int> taken_by{-1};
std::atomic<bool> may_go_on{false};

int say_who_and_wait() {
    taken_by = tulle::here().index();
    while (!may_go_on.load()) tulle::this_thread::yield();
    return tulle::here().index();
}

TEST_P(global_work_death, what_the_dead_had_taken_throws) {
    for (bool is_over = false; !is_over;) {
        taken_by = -1;
        may_go_on = false;
        auto child = tulle::global_fork<&say_who_and_wait>();
        while (taken_by == -1) tulle::this_thread::yield();
        is_over = taken_by != 0; // else a worker of this place
        if (is_over)
            kill(taken_by);
        else
            may_go_on = true;
        try {
            EXPECT_EQ(child.join(), 0);
            EXPECT_FALSE(is_over);
        } catch (tulle::dead_place const& e) {
            EXPECT_EQ(e.place(), taken_by);
        }
    }
    may_go_on = true; // cut off
}

TEST_P(global_work_death, the_others_go_on_sharing_work) {
    for (int const which : {3, 2}) {
        bury(which);
        static std::atomic<unsigned> s_seen;
        s_seen = 0;
        while (s_seen != (which == 3 ? 7U : 3U)) {
            tulle::finish([](tulle::activities& all) {
                for (int k = 0; k < 100; ++k)
                    all.async_any([] { s_seen |= 1U << tulle::here().index(); });
            });
        }
    }
}

long count_tree(int depth) {
    if (depth == 0) return 1;
    auto older = tulle::global_fork<&count_tree>(depth - 1);
    long const younger = count_tree(depth - 1);
    return older.join() + younger;
}

// Nothing: a place has died with some of it.
std::optional<long> counted(int depth) try {
    return count_tree(depth);
} catch (tulle::dead_place const&) {
    return {};
}

TEST_P(global_work_death, a_tree_is_counted_or_throws) {
    constexpr int k_height =
        tulle::base::k_thread_sanitizer || tulle::base::k_address_sanitizer ? 8 : 12;
    tulle::base::rng random(11);
    for (int which = 3; which != 0; --which) {
        tulle::finish([&](tulle::activities& all) {
            all.async([&, yields = random.below(200)] {
                for (std::uint32_t k = 0; k < yields; ++k) tulle::this_thread::yield();
                kill(which);
            });
            for (int round = 0; round < 3; ++round) {
                auto const found = counted(k_height);
                EXPECT_EQ(found.value_or(1L << k_height), 1L << k_height);
            }
        });
        bury(which);
        EXPECT_EQ(counted(k_height), 1L << k_height) << which;
    }
}

} // namespace
