// SPDX-License-Identifier: Apache-2.0
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/global_mutex.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

using lock_mode = tulle::global_mutex::mode;

struct lock_network : named_network {
    lock_mode mode;
};

class global_mutex_test : started, public testing::TestWithParam<lock_network> {
protected:
    loopback_places m_places{3, GetParam().options};
};

INSTANTIATE_TEST_SUITE_P(
    modes, global_mutex_test,
    testing::Values(
        lock_network{{"sensitive"}, lock_mode::contention_sensitive},
        lock_network{{"plain"}, lock_mode::plain},
        lock_network{{"hierarchical"}, lock_mode::hierarchical},
        lock_network{{"sensitive_out_of_order", {.seed = 3}}, lock_mode::contention_sensitive},
        lock_network{{"plain_out_of_order", {.seed = 4}}, lock_mode::plain},
        lock_network{{"hierarchical_out_of_order", {.seed = 5}}, lock_mode::hierarchical}),
    network_name);

// The places of this process share its memory.
struct guarded {
    long count = 0;
    bool is_held = false;
};

void add(tulle::global_mutex const& m, guarded& to) {
    std::lock_guard const held(m);
    EXPECT_FALSE(to.is_held);
    to.is_held = true;
    if (to.count % 16 == 0) tulle::this_thread::yield();
    ++to.count;
    to.is_held = false;
}

TEST_P(global_mutex_test, one_thread_of_all_places_has_it) {
    static guarded s_guarded;
    s_guarded = {};
    auto const m = tulle::global_mutex::make(tulle::place(1), GetParam().mode);
    EXPECT_EQ(m.home().index(), 1);
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 12; ++k)
            all.async_at(
                tulle::place(k % 3),
                [](tulle::global_mutex own) {
                    for (int i = 0; i < 100; ++i) add(own, s_guarded);
                },
                m);
    });
    EXPECT_EQ(s_guarded.count, 1200);
    EXPECT_EQ(m.is_hierarchical(), GetParam().mode != lock_mode::plain);
    m.destroy();
}

// Nobody waits for who unlocks, so one may be overtaken by who locks next, which is contention: 16
// more of these than of others would change the mutex, and the first one finds it free.
TEST_P(global_mutex_test, without_contention_it_is_what_it_was) {
    auto const m = tulle::global_mutex::make(GetParam().mode);
    for (int round = 0; round < 4; ++round)
        for (tulle::place const p : tulle::places())
            tulle::at(
                p, [](tulle::global_mutex own) { std::lock_guard const held(own); }, m);
    EXPECT_EQ(m.is_hierarchical(), GetParam().mode == lock_mode::hierarchical);
    m.destroy();
}

// Threads of place 1 that want it all the time keep one of place 2 waiting for so many turns at
// most.
TEST_P(global_mutex_test, no_place_waits_for_ever) {
    static std::atomic<long> s_turns;
    static std::atomic<bool> s_over;
    s_turns = 0;
    s_over = false;
    auto const m = tulle::global_mutex::make(tulle::place(0), GetParam().mode);
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 3; ++k)
            all.async_at(
                tulle::place(1),
                [](tulle::global_mutex own) {
                    while (!s_over) {
                        std::lock_guard const held(own);
                        ++s_turns;
                    }
                },
                m);
        all.async_at(
            tulle::place(2),
            [](tulle::global_mutex own) {
                while (s_turns < 100) tulle::this_thread::yield();
                for (int k = 0; k < 20; ++k) std::lock_guard const held(own);
                s_over = true;
            },
            m);
    });
    EXPECT_GE(s_turns, 100);
    m.destroy();
}

TEST_P(global_mutex_test, hierarchical_needs_no_messages_while_it_stays) {
    auto const m = tulle::global_mutex::make(tulle::place(2), GetParam().mode);
    tulle::at(
        tulle::place(1), [](tulle::global_mutex own) { std::lock_guard const held(own); }, m);
    std::uint64_t const before = m_places.network().sent();
    tulle::at(
        tulle::place(1),
        [](tulle::global_mutex own) {
            for (int k = 0; k < 10; ++k) std::lock_guard const held(own);
        },
        m);
    std::uint64_t const messages = m_places.network().sent() - before - 2;
    if (GetParam().mode == lock_mode::hierarchical)
        EXPECT_EQ(messages, 0U);
    else
        EXPECT_EQ(messages, 30U);
    m.destroy();
}

TEST_P(global_mutex_test, is_contended_from_the_threshold_on) {
    static guarded s_guarded;
    bool const looks = GetParam().mode == lock_mode::contention_sensitive;
    bool const always = GetParam().mode == lock_mode::hierarchical;
    for (int const threshold : {0, 1'000'000}) {
        s_guarded = {};
        auto const m = tulle::global_mutex::make(tulle::place(0), GetParam().mode, {threshold, 1});
        EXPECT_EQ(m.is_hierarchical(), always || (looks && threshold == 0));
        tulle::finish([&](tulle::activities& all) {
            for (int k = 0; k < 6; ++k)
                all.async_at(
                    tulle::place(k % 3),
                    [](tulle::global_mutex own) {
                        for (int i = 0; i < 50; ++i) add(own, s_guarded);
                    },
                    m);
        });
        EXPECT_EQ(s_guarded.count, 300);
        EXPECT_EQ(m.is_hierarchical(), always || (looks && threshold == 0));
        m.destroy();
    }
}

// An error of the program, which keeps nobody waiting, and lets nobody in beside another one. All
// places of the test are in this process.
TEST_P(global_mutex_test, an_unlock_too_many_does_nothing) {
    static std::atomic<int> s_inside, s_most;
    s_most = 0;
    auto const m = tulle::global_mutex::make(tulle::place(0), GetParam().mode);
    auto const have_it = [](tulle::global_mutex own) {
        for (int k = 0; k < 50; ++k) {
            std::lock_guard const held(own);
            s_most = std::max(s_most.load(), ++s_inside);
            tulle::this_thread::yield();
            --s_inside;
        }
    };
    for (int const where : {0, 1}) {
        tulle::at(
            tulle::place(where),
            [](tulle::global_mutex own) {
                own.unlock();
                for (int k = 0; k < 3; ++k) {
                    std::lock_guard const held(own);
                }
                own.unlock();
            },
            m);
        tulle::finish([&](tulle::activities& all) {
            for (int k = 0; k < 3; ++k) all.async_at(tulle::place(where), have_it, m);
        });
    }
    EXPECT_EQ(s_most, 1);
    m.destroy();
}

TEST_P(global_mutex_test, tuning_has_to_make_sense) {
    auto const make = [](int threshold, int turns) {
        return tulle::global_mutex::make(tulle::place(0), GetParam().mode, {threshold, turns});
    };
    EXPECT_THROW(static_cast<void>(make(-1, 1)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(make(0, 0)), std::invalid_argument);
}

TEST_P(global_mutex_test, is_an_error_once_it_is_destroyed) {
    auto const m = tulle::global_mutex::make(GetParam().mode);
    m.destroy();
    EXPECT_THROW(m.lock(), std::logic_error);
    EXPECT_THROW(static_cast<void>(m.is_hierarchical()), std::logic_error);
    EXPECT_THROW(tulle::at(
                     tulle::place(2), [](tulle::global_mutex own) { own.lock(); }, m),
                 std::logic_error);
}

class lone_global_mutex_test : started, public testing::Test {};

TEST_F(lone_global_mutex_test, works_at_a_single_place) {
    auto const m = tulle::global_mutex::make();
    guarded own;
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 4; ++k)
            all.async([&] {
                for (int i = 0; i < 500; ++i) add(m, own);
            });
    });
    EXPECT_EQ(own.count, 2000);
    m.destroy();
}

TEST_F(lone_global_mutex_test, homes_are_the_places_in_turn) {
    loopback_places const four(4);
    std::array<int, 4> homes{};
    for (int k = 0; k < 12; ++k) {
        auto const m = tulle::global_mutex::make();
        ++homes[static_cast<std::size_t>(m.home().index())];
        m.destroy();
    }
    EXPECT_EQ(homes, (std::array{3, 3, 3, 3}));
}

} // namespace
