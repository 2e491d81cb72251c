// SPDX-License-Identifier: Apache-2.0
//
// Places that die over a virtual network, while the others go on: everything that needs them throws
// dead_place, and nothing hangs. What runs at a place that was killed goes on running here, cut off
// from the others, which for it have died.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/c/place.h>
#include <tulle/clock.hpp>
#include <tulle/finish.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/global_mutex.hpp>
#include <tulle/latch.hpp>
#include <tulle/place.hpp>
#include <tulle/place_local.hpp>
#include <tulle/team.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

namespace {

void wait_for(auto condition) {
    while (!condition()) tulle::this_thread::yield();
}

// Those that `e` is or consists of.
std::vector<int> deaths_in(std::exception_ptr const& e) {
    std::vector<int> all;
    try {
        std::rethrow_exception(e);
    } catch (tulle::dead_place const& d) {
        all.push_back(d.place());
    } catch (tulle::exception_list const& list) {
        for (auto const& one : list.all())
            for (int const place : deaths_in(one)) all.push_back(place);
    } catch (tulle::collective_error const&) {}
    return all;
}
template <class F> std::vector<int> deaths_thrown_by(F f) {
    try {
        f();
    } catch (...) {
        return deaths_in(std::current_exception());
    }
    return {};
}

// What all places of this process share.
std::atomic<int> reached{0};
std::atomic<bool> may_end{false};

void reach_and_wait() {
    reached.fetch_add(1);
    wait_for([] { return may_end.load(); });
}

class place_death : started, public testing::TestWithParam<named_network> {
protected:
    place_death() {
        reached = 0;
        may_end = false;
    }
    ~place_death() { may_end = true; }

    void kill(int which) { m_places.network().kill(static_cast<tulle::net::rank>(which), SIGKILL); }
    // Place 0 knows.
    void bury(int which) {
        kill(which);
        wait_for([which] { return tulle::place(which).is_dead(); });
    }

    // f(arguments...) by a thread of place 0.
    template <class F, class... A> auto start(F f, A... arguments) {
        return tulle::spawn([this, f, arguments...]() mutable {
            tulle::messenger::place_context context{&m_places.endpoint(0), nullptr};
            tulle::messenger::scoped_context const here(context);
            return f(arguments...);
        });
    }
    template <class F, class... A> auto start_call(int at, F f, A... arguments) {
        return start([](int there, F g,
                        A... values) { return tulle::at(tulle::place(there), g, values...); },
                     at, f, arguments...);
    }

    loopback_places m_places{5, GetParam().options, {.survives = true}};
};

INSTANTIATE_TEST_SUITE_P(networks, place_death, unlike_networks(), network_name);

TEST_P(place_death, calls_and_starts_at_the_dead_throw) {
    bury(2);
    EXPECT_TRUE(tulle::place(2).is_dead());
    EXPECT_FALSE(tulle::place(1).is_dead());
    try {
        tulle::at(tulle::place(2), [] {});
        ADD_FAILURE();
    } catch (tulle::dead_place const& e) {
        EXPECT_EQ(e.place(), 2);
        EXPECT_EQ(e.lost(), 0U);
        EXPECT_STREQ(e.what(), "tulle: place 2 has died: ended by signal 9 (Killed)");
    }
    std::atomic<int> ran{0};
    EXPECT_EQ(deaths_thrown_by([&] {
                  tulle::finish([&](tulle::activities& all) {
                      all.async([&] { ++ran; });
                      all.async_at(tulle::place(2), [] {});
                  });
              }),
              (std::vector{2}));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(tulle::at(tulle::place(1), [] { return 5; }), 5) << "the others go on";
}

TEST_P(place_death, a_call_under_way_throws) {
    auto call = start_call(
        2,
        [](std::string const& large) {
            reach_and_wait();
            return large;
        },
        std::string(20'000, 'x'));
    wait_for([] { return reached == 1; });
    kill(2);
    EXPECT_THROW(static_cast<void>(call.join()), tulle::dead_place);
}

TEST_P(place_death, it_is_told_over_places) {
    bury(3);
    wait_for([] { return tulle::at(tulle::place(1), [] { return tulle::place(3).is_dead(); }); });
    EXPECT_EQ(deaths_thrown_by(
                  [] { tulle::at(tulle::place(1), [] { tulle::at(tulle::place(3), [] {}); }); }),
              (std::vector{3}));
}

// Started by the dead place at another one, which nobody else knows of.
TEST_P(place_death, a_finish_waits_for_what_the_dead_has_started) {
    static std::atomic<bool> has_ended;
    has_ended = false;
    std::uint64_t lost = 0;
    auto whole = start([&lost] {
        try {
            tulle::finish([](tulle::activities& all) {
                all.async_at(tulle::place(2), [] {
                    tulle::this_activity::async_at(tulle::place(3), [] {
                        reach_and_wait();
                        has_ended = true;
                    });
                    reach_and_wait();
                });
            });
        } catch (tulle::dead_place const& e) {
            lost = e.lost();
            return has_ended.load();
        }
        return false;
    });
    wait_for([] { return reached == 2; });
    bury(2);
    for (int k = 0; k < 1000; ++k) tulle::this_thread::yield();
    may_end = true;
    EXPECT_TRUE(whole.join());
    EXPECT_EQ(lost, 1U);
}

TEST_P(place_death, a_finish_without_the_dead_is_not_concerned) {
    tulle::finish([this](tulle::activities& all) {
        all.async_at(tulle::place(1), [] { reach_and_wait(); });
        wait_for([] { return reached == 1; });
        bury(2);
        may_end = true;
    });
}

TEST_P(place_death, the_home_of_a_finish) {
    auto call = start_call(2, [] {
        tulle::finish([](tulle::activities& all) {
            all.async_at(tulle::place(3), [] { reach_and_wait(); });
        });
    });
    wait_for([] { return reached == 1; });
    kill(2);
    EXPECT_THROW(call.join(), tulle::dead_place);
    may_end = true; // nobody waits for it
    EXPECT_EQ(tulle::at(tulle::place(3), [] { return 3; }), 3);
}

TEST_P(place_death, collective_operations_end_everywhere) {
    static std::array<std::atomic<int>, 5> outcome;
    for (auto& one : outcome) one = 0;
    tulle::finish([this](tulle::activities& all) {
        for (int p = 0; p < 5; ++p) {
            if (p == 2) continue;
            all.async_at(
                tulle::place(p),
                [](int mine) {
                    reached.fetch_add(1);
                    try {
                        tulle::team const everybody;
                        static_cast<void>(everybody.allreduce(mine));
                    } catch (tulle::dead_place const&) {
                        outcome[static_cast<std::size_t>(mine)] = 1;
                    } catch (tulle::collective_error const&) {
                        outcome[static_cast<std::size_t>(mine)] = 2;
                    }
                },
                p);
        }
        wait_for([] { return reached == 4; });
        kill(2);
    });
    EXPECT_EQ(
        std::count_if(outcome.begin(), outcome.end(), [](auto const& one) { return one == 0; }), 1)
        << "none but the dead is content";
    EXPECT_GE(
        std::count_if(outcome.begin(), outcome.end(), [](auto const& one) { return one == 1; }), 1);
    tulle::team const left(
        std::vector{tulle::place(0), tulle::place(1), tulle::place(3), tulle::place(4)});
    tulle::finish([&](tulle::activities& all) {
        for (int r = 0; r < 4; ++r)
            all.async_at(
                left[r],
                [](tulle::team const& t) {
                    if (t.allreduce(1) == 4) reached.fetch_add(1);
                },
                left);
    });
    EXPECT_EQ(reached, 8);
}

TEST_P(place_death, a_clock_of_which_a_member_dies) {
    std::vector<int> const dead = deaths_thrown_by([this] {
        tulle::finish([this](tulle::activities& all) {
            tulle::clock const c = tulle::clock::make();
            c.async_at(all, tulle::place(1), [](tulle::clock own) {
                reached.fetch_add(1);
                own.advance(); // throws
            });
            c.async_at(all, tulle::place(2), [](tulle::clock) { reach_and_wait(); });
            wait_for([] { return reached == 2; });
            kill(2);
            EXPECT_THROW(c.advance(), tulle::dead_place);
            c.drop();
        });
    });
    EXPECT_EQ(dead.size(), 2U) << "of the activity at place 1, and of the finish";
}

TEST_P(place_death, a_place_that_has_a_mutex) {
    for (auto const mode : {tulle::global_mutex::mode::contention_sensitive,
                            tulle::global_mutex::mode::hierarchical}) {
        int const victim = mode == tulle::global_mutex::mode::contention_sensitive ? 2 : 3;
        tulle::global_mutex const m = tulle::global_mutex::make(tulle::place(1), mode);
        tulle::global_mutex const of_the_dead =
            tulle::global_mutex::make(tulle::place(victim), mode);
        int const before = reached;
        auto holder = start_call(
            victim,
            [](tulle::global_mutex own) {
                own.lock();
                reach_and_wait();
            },
            m);
        wait_for([before] { return reached == before + 1; });
        auto waiter = start_call(
            4, [](tulle::global_mutex own) { own.lock(); }, m);
        kill(victim);
        EXPECT_THROW(waiter.join(), tulle::dead_place);
        EXPECT_THROW(m.lock(), tulle::dead_place);
        EXPECT_THROW(of_the_dead.lock(), tulle::dead_place);
        EXPECT_THROW(holder.join(), tulle::dead_place);
        m.destroy();
    }
}

TEST_P(place_death, words_of_global_memory) {
    std::vector<tulle::global_ptr<std::uint64_t>> words;
    for (int p = 0; p < 5; ++p)
        words.push_back(tulle::allocate_global_at<std::uint64_t>(tulle::place(p)));
    for (auto const w : words) w.store(1);
    bury(2);
    if (GetParam().options.shares_segments) {
        EXPECT_EQ(words[2].load(), 1U) << "memory that is shared stays";
        return;
    }
    EXPECT_THROW(static_cast<void>(words[2].load()), tulle::dead_place);
    EXPECT_THROW(words[2].store(2), tulle::dead_place);
    EXPECT_EQ(words[3].load(), 1U);
}

TEST_P(place_death, the_c_functions_say_that_it_is_down) {
    bury(2);
    EXPECT_EQ(tulle_place_is_dead(2), 1);
    EXPECT_EQ(tulle_place_is_dead(1), 0);
    EXPECT_EQ(tulle_place_is_dead(5), -EINVAL);
    tulle_signal_t s{};
    int word = 0;
    EXPECT_EQ(tulle_start_at(2, {[](std::uint64_t, std::uint64_t) {}, 0, 0}), -EHOSTDOWN);
    EXPECT_EQ(tulle_signal_notify_at(2, &s), -EHOSTDOWN);
    EXPECT_EQ(tulle_push(2, &word, &word, sizeof word, nullptr, nullptr), -EHOSTDOWN);
    EXPECT_EQ(tulle_pull(&word, 2, &word, sizeof word), -EHOSTDOWN);
}

// Trees of activities over all places, of which two die at any moment.
struct tally {
    std::atomic<int> begun{0}, ended{0};
};
std::array<tally, 5> tallies;

struct living_branch {
    explicit living_branch(int at) : own(tallies[static_cast<std::size_t>(at)]) {
        own.begun.fetch_add(1);
    }
    living_branch(living_branch const&) = delete;
    living_branch& operator=(living_branch const&) = delete;
    ~living_branch() { own.ended.fetch_add(1); }
    tally& own;
};

void grow(std::uint64_t seed, int depth) {
    living_branch const self(tulle::here().index());
    tulle::base::rng random(seed);
    for (std::uint32_t k = random.below(4); k != 0 && depth != 0; --k) {
        tulle::place const there(static_cast<int>(random.below(5)));
        std::uint64_t const next = seed * 31 + k;
        if (random.below(4) == 0)
            tulle::at(
                there, [](std::uint64_t s, int d) { grow(s, d); }, next, depth - 1);
        else
            tulle::this_activity::async_at(
                there, [](std::uint64_t s, int d) { grow(s, d); }, next, depth - 1);
        if (random.below(3) == 0) tulle::this_thread::yield();
    }
}

int begun_so_far() {
    int sum = 0;
    for (auto const& t : tallies) sum += t.begun;
    return sum;
}

TEST_P(place_death, of_random_trees_nothing_is_left_at_the_survivors) {
    tulle::base::rng random(GetParam().options.seed + 1);
    int const rounds = tulle::base::k_thread_sanitizer ? 4 : 20;
    int losses = 0;
    for (int round = 0; round < rounds || (losses == 0 && round < 100 * rounds); ++round) {
        loopback_places places(5, GetParam().options, {.survives = true});
        for (auto& t : tallies) t.begun = t.ended = 0;
        std::atomic<bool> is_over{false};
        std::uint64_t const seed = random.below(1'000'000);
        int const when = static_cast<int>(random.below(60));
        std::array<int, 2> const victims{1 + static_cast<int>(random.below(4)),
                                         1 + static_cast<int>(random.below(4))};
        auto killer = tulle::spawn([&] {
            for (int const victim : victims) {
                int const enough = when + begun_so_far();
                wait_for([&] { return is_over || begun_so_far() >= enough; });
                places.network().kill(static_cast<tulle::net::rank>(victim), SIGKILL);
            }
        });
        auto const dead = deaths_thrown_by([&] { tulle::finish([&] { grow(seed, 6); }); });
        is_over = true;
        losses += dead.empty() ? 0 : 1;
        for (int const place : dead)
            EXPECT_TRUE(place == victims[0] || place == victims[1]) << place;
        for (int p = 0; p < 5; ++p) {
            auto const& t = tallies[static_cast<std::size_t>(p)];
            if (p == victims[0] || p == victims[1]) continue;
            EXPECT_EQ(t.begun, t.ended) << "place " << p << ", round " << round;
        }
        killer.join();
    }
    EXPECT_GT(losses, 0);
}

// Some of the requests that a read consists of are lost with the place, others find it dead: both
// say so to the thread that reads.
TEST_P(place_death, ends_a_read_of_many_pieces) {
    constexpr std::size_t k_bytes = 200'000;
    auto const there = tulle::allocate_global_at<char>(tulle::place(3), k_bytes);
    auto killer = tulle::spawn([this] {
        wait_for([] { return reached.load() >= 3; });
        kill(3);
    });
    std::vector<char> into(k_bytes);
    bool is_told = false;
    try {
        for (; !tulle::place(3).is_dead(); reached.fetch_add(1))
            tulle::read(there, std::span(into));
        tulle::read(there, std::span(into));
    } catch (tulle::dead_place const&) {
        is_told = true;
    }
    EXPECT_EQ(is_told, !GetParam().options.shares_segments);
    killer.join();
}

// They have to be fetched from the place, which dies meanwhile.
TEST_P(place_death, ends_a_finish_whose_large_exceptions_are_on_their_way) {
    auto const fails = [] {
        reached.fetch_add(1);
        throw std::runtime_error(std::string(100'000, 'x'));
    };
    auto killer = tulle::spawn([this] {
        wait_for([] { return reached.load() >= 10; });
        kill(3);
    });
    EXPECT_THROW(tulle::finish([&](tulle::activities& all) {
                     for (int k = 0; k < 20; ++k) all.async_at(tulle::place(3), fails);
                 }),
                 std::runtime_error);
    killer.join();
}

TEST_P(place_death, no_mutex_has_a_dead_home_unless_it_is_asked_for) {
    bury(2);
    for (int k = 0; k < 10; ++k) {
        auto const m = tulle::global_mutex::make();
        EXPECT_FALSE(m.home().is_dead());
        m.lock();
        m.unlock();
        m.destroy();
    }
}

struct counted {
    counted() { reached.fetch_add(1); }
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;
    ~counted() { reached.fetch_sub(1); }
};

TEST_P(place_death, objects_of_the_living_are_destroyed) {
    auto const own = tulle::place_local<counted>::make([] { return counted(); });
    EXPECT_EQ(reached.load(), 5);
    bury(1);
    own.destroy();
    EXPECT_EQ(reached.load(), 1); // that of the dead, which nobody may touch
    EXPECT_EQ(deaths_thrown_by([] {
                  static_cast<void>(tulle::place_local<counted>::make([] { return counted(); }));
              }),
              std::vector{1});
    wait_for([] { return reached.load() == 1; }); // none is left of those that were made
}

} // namespace
