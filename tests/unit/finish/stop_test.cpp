// SPDX-License-Identifier: Apache-2.0
//
// A finish over places that is cancelled: by its body, a deadline, an activity at another place, an
// exception, with what it is a part of; while activities are on their way, while parts of it end
// and begin again, and while places die. What hangs was missed by the cancellation.
#include "base/rng.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/clock.hpp>
#include <tulle/finish.hpp>
#include <tulle/latch.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tulle::activities;
using tulle::place;
using tulle::wait_limit;
namespace self = tulle::this_activity;

std::atomic<int> waiting{0};
std::atomic<int> begun{0};

void wait_for_stop() {
    ++waiting;
    self::get_token().wait();
}
void pass_until(auto condition) {
    while (!condition()) tulle::this_thread::yield();
}
void note() { ++begun; }

template <int Survives>
class stopped_places : started, public testing::TestWithParam<named_network> {
protected:
    stopped_places() { waiting = begun = 0; }
    loopback_places m_places{4, GetParam().options, {.survives = Survives != 0}};
};
using finish_stop = stopped_places<0>;
using finish_stop_and_deaths = stopped_places<1>;

INSTANTIATE_TEST_SUITE_P(networks, finish_stop, unlike_networks(), network_name);
INSTANTIATE_TEST_SUITE_P(networks, finish_stop_and_deaths, unlike_networks(), network_name);

TEST_P(finish_stop, of_the_body_ends_waits_at_all_places) {
    EXPECT_FALSE(tulle::finish(tulle::cancellation_token(), [](activities& all) {
        for (place const p : tulle::places()) all.async_at(p, [] { wait_for_stop(); });
        pass_until([] { return waiting == 4; });
        EXPECT_FALSE(all.stop_requested());
        EXPECT_TRUE(all.request_stop());
        EXPECT_FALSE(all.request_stop());
        EXPECT_TRUE(self::stop_requested());
    }));
}

TEST_P(finish_stop, that_never_comes) {
    EXPECT_TRUE(tulle::finish(wait_limit(1h), [](activities& all) {
        for (place const p : tulle::places())
            all.async_at(p, [] {
                EXPECT_TRUE(self::get_token().stop_possible());
                self::async_at(place(2), [] { note(); });
            });
    }));
    EXPECT_EQ(begun, 4);
    tulle::finish([](activities& all) {
        EXPECT_FALSE(all.get_token().stop_possible());
        EXPECT_THROW(all.request_stop(), std::logic_error);
        all.async_at(place(1), [] { EXPECT_THROW(self::request_stop(), std::logic_error); });
    });
    EXPECT_FALSE(self::get_token().stop_possible()) << "of no finish";
}

TEST_P(finish_stop, lets_nothing_begin) {
    tulle::cancellation_source stopped;
    stopped.request_stop();
    EXPECT_FALSE(tulle::finish(stopped.get_token(), [](activities& all) {
        for (place const p : tulle::places()) {
            all.async_at(p, [] { note(); });
            all.async_at(
                p, [](std::string const&) { note(); }, std::string(20'000, 'x'));
        }
        all.async([] { note(); });
        EXPECT_EQ(tulle::at(place(1), [] { return 5; }), 5) << "a call has a result";
    }));
    EXPECT_EQ(begun, 0);
}

// What an activity would have owned is given up where it would have begun.
TEST_P(finish_stop, gives_up_what_has_not_begun) {
    auto const c = tulle::clock::make();
    EXPECT_FALSE(tulle::finish(tulle::cancellation_token(), [&](activities& all) {
        all.request_stop();
        for (place const p : tulle::places())
            c.async_at(all, p, [](tulle::clock const& own) { own.advance(); });
    }));
    EXPECT_EQ(c.advance(), 1U) << "nobody else takes part any more";
    c.drop();
}

TEST_P(finish_stop, by_a_deadline_reaches_chains) {
    EXPECT_FALSE(tulle::finish(wait_limit(20ms), [](activities& all) {
        all.async_at(place(1), [] {
            self::async_at(place(2), [] {
                self::async_at(place(3), [] { wait_for_stop(); });
                wait_for_stop();
            });
        });
    }));
}

// The body waits for a call that ends only by the cancellation.
TEST_P(finish_stop, by_a_deadline_while_the_body_waits_for_a_call) {
    EXPECT_FALSE(
        tulle::finish(wait_limit(5ms), [] { tulle::at(place(2), [] { wait_for_stop(); }); }));
    tulle::cancellation_source whole;
    whole.request_stop_after(5ms);
    EXPECT_FALSE(
        tulle::finish(whole.get_token(), [] { tulle::at(place(3), [] { wait_for_stop(); }); }));
}

TEST_P(finish_stop, by_an_activity_of_another_place) {
    EXPECT_FALSE(tulle::finish(tulle::cancellation_token(), [](activities& all) {
        for (place const p : tulle::places()) all.async_at(p, [] { wait_for_stop(); });
        all.async_at(place(3), [] {
            pass_until([] { return waiting == 4; });
            EXPECT_TRUE(self::request_stop());
            EXPECT_TRUE(self::stop_requested()) << "seen here at once";
        });
    }));
}

TEST_P(finish_stop, by_an_exception_which_is_collected) {
    for (int const thrower : {0, 2}) {
        waiting = 0;
        try {
            tulle::finish(tulle::cancellation_token(), [thrower](activities& all) {
                for (place const p : tulle::places()) {
                    all.async_at(p, [] { wait_for_stop(); });
                    all.async_at(p, [] {
                        wait_for_stop();
                        throw std::range_error("late");
                    });
                }
                all.async_at(place(thrower), [] {
                    pass_until([] { return waiting == 8; });
                    throw std::runtime_error("first");
                });
            });
            ADD_FAILURE();
        } catch (tulle::exception_list const& e) {
            EXPECT_EQ(e.all().size(), 5U);
        }
    }
}

TEST_P(finish_stop, reaches_what_is_within) {
    auto const body = [](activities& all) {
        all.async_at(place(1), [] {
            tulle::finish([](activities& inner) {
                inner.async_at(place(2), [] {
                    tulle::finish(wait_limit(1h), [](activities& innermost) {
                        innermost.async_at(place(3), [] { wait_for_stop(); });
                    });
                });
                inner.async_at(place(0), [] { wait_for_stop(); });
                inner.async_at(place(3), [] {
                    note();
                    throw std::runtime_error("of the inner one, which has no limit of its own");
                });
                pass_until([] { return waiting == 2; });
            });
        });
        pass_until([] { return waiting == 2 && begun == 1; }); // what has not begun would not begin
        all.request_stop();
    };
    EXPECT_THROW(tulle::finish(tulle::cancellation_token(), body), std::runtime_error);
}

TEST_P(finish_stop, of_a_part_leaves_the_whole) {
    EXPECT_TRUE(tulle::finish(wait_limit(1h), [](activities& all) {
        all.async_at(place(1), [] {
            EXPECT_FALSE(tulle::finish(wait_limit(5ms), [](activities& inner) {
                inner.async_at(place(2), [] { wait_for_stop(); });
            }));
            EXPECT_FALSE(self::stop_requested());
            self::async_at(place(2), [] { note(); });
        });
    }));
    EXPECT_EQ(begun, 1);
}

// --- random trees --------------------------------------------------------------------------------

// Starts others, waits now and then, and at last for the cancellation, or ends without it, so that
// parts end and begin again.
void branch_out(std::uint64_t seed, int depth);
struct branch_there {
    void operator()(std::uint64_t seed, int depth) const { branch_out(seed, depth); }
};
void branch_out(std::uint64_t seed, int depth) {
    tulle::base::rng random(seed);
    for (std::uint32_t k = random.below(4); k != 0 && depth != 0; --k) {
        for (std::uint32_t n = random.below(8); n != 0; --n) tulle::this_thread::yield();
        std::uint64_t const next = random.next();
        place const where(static_cast<int>(random.below(4)));
        if (random.below(4) == 0)
            tulle::finish(
                [&](activities& all) { all.async_at(where, branch_there{}, next, depth - 1); });
        else
            self::async_at(where, branch_there{}, next, depth - 1);
    }
    if (random.below(40) == 0) self::request_stop();
    if (random.below(2) == 0) self::get_token().wait();
}

TEST_P(finish_stop, of_random_trees_misses_nobody) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        tulle::base::rng random(seed);
        std::uint32_t const patience = random.below(400);
        auto const body = [&](activities& all) {
            for (int k = 0; k < 3; ++k)
                all.async_at(place(k + 1), branch_there{}, random.next(), 4);
            for (std::uint32_t n = patience; n != 0; --n) tulle::this_thread::yield();
            if (patience % 2 == 0) all.request_stop();
        };
        if (patience % 2 == 0)
            EXPECT_FALSE(tulle::finish(tulle::cancellation_token(), body)) << seed;
        else
            // May be over before.
            tulle::finish(wait_limit(std::chrono::microseconds(10 * patience)), body);
    }
}

TEST_P(finish_stop, messages) {
    auto const sent_by = [&](auto action) {
        std::uint64_t const before = m_places.network().sent();
        action();
        return m_places.network().sent() - before;
    };
    auto const start = [](activities& all) { all.async_at(place(1), [] {}); };
    EXPECT_EQ(sent_by([&] { tulle::finish(start); }), 2U);
    EXPECT_EQ(sent_by([&] { tulle::finish(wait_limit(1h), start); }), 3U) << "it begins, too";
    EXPECT_EQ(sent_by([&] {
                  tulle::finish(tulle::cancellation_token(), [](activities& all) {
                      all.async_at(place(1), [] { wait_for_stop(); });
                      pass_until([] { return waiting == 1; });
                      all.request_stop();
                  });
              }),
              4U);
    EXPECT_EQ(
        sent_by([&] { tulle::finish(wait_limit(1h), [](activities& all) { all.async([] {}); }); }),
        0U);
}

// --- deaths --------------------------------------------------------------------------------------

TEST_P(finish_stop_and_deaths, the_survivors_are_cancelled) {
    EXPECT_THROW(tulle::finish(tulle::cancellation_token(),
                               [&](activities& all) {
                                   for (int k = 1; k < 4; ++k)
                                       all.async_at(place(k), [] { wait_for_stop(); });
                                   pass_until([] { return waiting == 3; });
                                   m_places.network().kill(2, SIGKILL);
                                   all.request_stop();
                               }),
                 tulle::dead_place);
}

TEST_P(finish_stop_and_deaths, at_any_moment) {
    tulle::base::rng random(31);
    bool is_dead = false;
    for (int round = 0; round < 6; ++round) {
        bool const kills = round == 3;
        try {
            tulle::finish(tulle::cancellation_token(), [&](activities& all) {
                for (int k = 1; k < 4; ++k)
                    if (!is_dead || k != 2)
                        all.async_at(place(k),
                                     [] { self::async_at(place(1), [] { wait_for_stop(); }); });
                for (std::uint32_t n = random.below(200); n != 0; --n) tulle::this_thread::yield();
                if (kills) m_places.network().kill(2, SIGKILL);
                for (std::uint32_t n = random.below(50); n != 0; --n) tulle::this_thread::yield();
                all.request_stop();
            });
        } catch (tulle::dead_place const& e) {
            EXPECT_EQ(e.place(), 2);
        }
        is_dead = is_dead || kills;
    }
    EXPECT_EQ(tulle::at(place(3), [] { return 1; }), 1);
}

class lone_finish_stop : started, public testing::Test {};

TEST_F(lone_finish_stop, lets_nothing_begin) {
    begun = 0;
    EXPECT_FALSE(tulle::finish(tulle::cancellation_token(), [](activities& all) {
        all.async_any([](int) { note(); }, 1);
        pass_until([] { return begun == 1; });
        all.request_stop();
        all.async_any([](int) { note(); }, 1);
        all.async([] { note(); });
    }));
    EXPECT_EQ(begun, 1);
}

TEST_F(lone_finish_stop, works_at_a_single_place) {
    EXPECT_FALSE(tulle::finish(wait_limit(2ms), [](activities& all) {
        all.async([] { self::get_token().wait(); });
        all.async([] {
            tulle::finish([](activities& inner) {
                inner.async_at(place(0), [] { self::get_token().wait(); });
            });
        });
    }));
    EXPECT_THROW(tulle::finish(wait_limit(1h),
                               [](activities& all) {
                                   all.async([] { self::get_token().wait(); });
                                   throw std::runtime_error("cancels");
                               }),
                 std::runtime_error);
    tulle::cancellation_source source;
    tulle::finish(source.get_token(), [&](activities& all) {
        all.async([] { self::get_token().wait(); });
        source.request_stop();
    });
}

} // namespace
