// SPDX-License-Identifier: Apache-2.0
//
// Objects of another place: the same calls as on objects of this one, with their limits, over
// networks that delay and reorder; and places that die meanwhile.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/at_home.hpp>
#include <tulle/c/global_sync.h>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tulle::at_home;
using tulle::global_ptr;
using tulle::place;
namespace feb = tulle::feb;

void yield_until(auto condition) {
    while (!condition()) tulle::this_thread::yield();
}

class sync_at_home : started, public testing::TestWithParam<named_network> {
protected:
    // Nothing stays behind at any place.
    void expect_idle() {
        for (place const p : tulle::places())
            yield_until([&] { return m_places.services(p.index()).state.waits.is_idle(); });
    }
    loopback_places m_places{3, GetParam().options};
};
INSTANTIATE_TEST_SUITE_P(networks, sync_at_home, unlike_networks(), network_name);

// --- words ---------------------------------------------------------------------------------------

global_ptr<long> make_word(int home) {
    auto const word = tulle::allocate_global_at<long>(place(home));
    feb::purge(word);
    return word;
}
void free_word(global_ptr<long> word) {
    feb::fill(word);
    tulle::free_global(word);
}

TEST_P(sync_at_home, words_do_what_they_do_here) {
    for (place const home : tulle::places()) {
        auto const word = tulle::allocate_global_at<long>(home);
        EXPECT_TRUE(feb::is_full(word));
        feb::purge(word, 3);
        EXPECT_FALSE(feb::is_full(word));
        EXPECT_EQ(feb::read_xx(word), 3);
        EXPECT_FALSE(feb::try_read_ff(word));
        EXPECT_FALSE(feb::try_read_fe(word));
        EXPECT_FALSE(feb::try_write_ff(word, 1));
        EXPECT_TRUE(feb::try_write_ef(word, 4));
        EXPECT_FALSE(feb::try_write_ef(word, 5));
        EXPECT_EQ(feb::read_ff(word), 4);
        feb::write_ff(word, 6);
        EXPECT_EQ(feb::read_fe(word), 6);
        feb::write_ef(word, 7);
        feb::write_f(word, 8);
        EXPECT_EQ(feb::try_read_ff(word), 8);
        feb::empty(word);
        EXPECT_EQ(feb::read_xx(word), 8);
        feb::fill(word);
        EXPECT_EQ(feb::try_read_fe_for(word, 1h), 8);
        EXPECT_TRUE(feb::try_write_ef_for(word, 9, 1h));
        EXPECT_TRUE(feb::try_write_ff_until(word, 10, std::chrono::steady_clock::now() + 1h));
        EXPECT_EQ(feb::read_ff(word, tulle::wait_limit(1h)), 10);
        tulle::free_global(word);
    }
    expect_idle();
}

TEST_P(sync_at_home, words_of_sizes_and_of_private_memory) {
    auto const small = tulle::allocate_global_at<std::uint8_t>(place(1), 2);
    feb::empty(small + 1);
    EXPECT_EQ(feb::try_read_fe(small), feb::read_xx(small)) << "each byte has a state of its own";
    feb::write_ef(small + 1, std::uint8_t{5});
    EXPECT_EQ(feb::read_ff(small + 1), 5);
    feb::fill(small);
    tulle::free_global(small);
    double own = 1.5; // full, as every word
    tulle::at(
        place(2),
        [](tulle::global_ref<double> there) { feb::write_ef(there, feb::read_fe(there) + 1); },
        tulle::global_ref(own));
    EXPECT_EQ(feb::read_ff(own), 2.5);
}

// Every value that is written by any place is taken by one.
TEST_P(sync_at_home, words_go_from_hand_to_hand) {
    static std::atomic<long> s_taken;
    s_taken = 0;
    constexpr long k_values = 60;
    auto const word = make_word(1);
    tulle::finish([&](tulle::activities& all) {
        for (place const p : tulle::places()) {
            all.async_at(
                p,
                [](global_ptr<long> to) {
                    for (long k = 1; k <= k_values; ++k) feb::write_ef(to, k);
                },
                word);
            all.async_at(
                p,
                [](global_ptr<long> from) {
                    for (long k = 1; k <= k_values; ++k) s_taken += feb::read_fe(from);
                },
                word);
        }
    });
    EXPECT_EQ(s_taken, 3 * k_values * (k_values + 1) / 2);
    EXPECT_FALSE(feb::is_full(word));
    free_word(word);
    expect_idle();
}

TEST_P(sync_at_home, a_wait_whose_limit_is_reached_has_done_nothing) {
    auto const word = make_word(1);
    EXPECT_FALSE(feb::try_read_fe_for(word, 5ms));
    tulle::cancellation_source cancelled;
    cancelled.request_stop();
    EXPECT_FALSE(feb::read_ff(word, cancelled.get_token()));
    feb::write_ef(word, 1);
    EXPECT_FALSE(feb::write_ef(word, 2, tulle::wait_limit(5ms)));
    EXPECT_EQ(feb::read_fe(word, cancelled.get_token()), 1) << "what has been reached only tries";
    tulle::cancellation_source later;
    auto taken = tulle::spawn([&, at = &m_places.endpoint(2)] {
        tulle::messenger::place_context context{at, nullptr};
        tulle::messenger::scoped_context const here(context);
        return feb::read_fe(word, later.get_token());
    });
    tulle::this_thread::sleep_for(2ms);
    later.request_stop();
    EXPECT_FALSE(taken.join());
    feb::write_ef(word, 3);
    EXPECT_EQ(feb::read_fe(word), 3);
    free_word(word);
    expect_idle();
}

// A value is taken, or it is there: never both, never neither, however cancellation and value meet
// on their ways.
TEST_P(sync_at_home, a_cancellation_races_with_what_is_waited_for) {
    std::uint64_t const seed = 11;
    tulle::base::rng random(seed);
    auto const word = make_word(1);
    int taken = 0;
    constexpr int k_rounds = 60;
    for (int round = 0; round < k_rounds; ++round) {
        tulle::cancellation_source stop;
        auto waiter = tulle::spawn([&, at = &m_places.endpoint(2)] {
            tulle::messenger::place_context context{at, nullptr};
            tulle::messenger::scoped_context const here(context);
            return feb::read_fe(word, stop.get_token());
        });
        for (std::uint32_t k = random.below(20); k != 0; --k) tulle::this_thread::yield();
        auto writer = tulle::spawn([&, at = &m_places.endpoint(0)] {
            tulle::messenger::place_context context{at, nullptr};
            tulle::messenger::scoped_context const here(context);
            feb::write_ef(word, round);
        });
        for (std::uint32_t k = random.below(20); k != 0; --k) tulle::this_thread::yield();
        stop.request_stop();
        std::optional<long> const found = waiter.join();
        writer.join();
        taken += static_cast<int>(found.has_value());
        EXPECT_EQ(found ? found : feb::try_read_fe(word), round) << "seed " << seed;
        EXPECT_FALSE(feb::is_full(word)) << "seed " << seed;
    }
    std::printf("%d of %d taken\n", taken, k_rounds);
    free_word(word);
    expect_idle();
}

TEST_P(sync_at_home, wrong_addresses_are_refused) {
    auto const bytes = tulle::allocate_global_at<char>(place(1), 64);
    EXPECT_THROW(feb::fill(global_ptr<long>()), std::invalid_argument);
    EXPECT_THROW(feb::fill(global_ptr<long>::at(bytes.address() + 1)), std::invalid_argument);
    EXPECT_THROW(feb::fill(global_ptr<long>::at(64)), std::out_of_range);
    EXPECT_THROW(at_home(global_ptr<tulle::mutex>()), std::invalid_argument);
    EXPECT_THROW(at_home(global_ptr<tulle::barrier>::at(bytes.address() + 4)),
                 std::invalid_argument);
    EXPECT_THROW(at_home(global_ptr<tulle::signal>::at(8)), std::out_of_range);
    tulle::free_global(bytes);
}

// --- objects -------------------------------------------------------------------------------------

struct {
    long count = 0;
    bool is_held = false;
} below_mutex;

void add_below(at_home<tulle::mutex> const& m) {
    std::lock_guard const held(m);
    EXPECT_FALSE(below_mutex.is_held);
    below_mutex.is_held = true;
    if (below_mutex.count % 8 == 0) tulle::this_thread::yield();
    ++below_mutex.count;
    below_mutex.is_held = false;
}

TEST_P(sync_at_home, a_mutex_is_held_by_one) {
    below_mutex = {};
    auto const p = tulle::make_global<tulle::mutex>(place(1));
    at_home const m(p);
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 6; ++k)
            all.async_at(
                place(k % 3),
                [](at_home<tulle::mutex> own) {
                    for (int i = 0; i < 30; ++i) add_below(own);
                },
                m);
        all.async_at(
            place(1),
            [](global_ptr<tulle::mutex> there) { // by the object's own calls, too
                auto& own = *there.local();
                for (int i = 0; i < 30; ++i) {
                    std::lock_guard const held(own);
                    EXPECT_FALSE(below_mutex.is_held);
                    ++below_mutex.count;
                }
            },
            p);
    });
    EXPECT_EQ(below_mutex.count, 210);
    expect_idle();
    tulle::destroy_global(p);
}

TEST_P(sync_at_home, a_mutex_that_is_held_is_waited_for_within_limits) {
    for (place const home : tulle::places()) {
        auto const p = tulle::make_global<tulle::mutex>(home);
        at_home const m(p);
        EXPECT_TRUE(m.try_lock());
        tulle::at(
            place(2),
            [](at_home<tulle::mutex> own) {
                EXPECT_FALSE(own.try_lock());
                EXPECT_FALSE(own.try_lock_for(3ms));
                EXPECT_FALSE(own.try_lock_until(std::chrono::steady_clock::now() + 3ms));
                tulle::cancellation_source stop;
                stop.request_stop_after(3ms);
                EXPECT_FALSE(own.lock(stop.get_token()));
                EXPECT_THROW(own.unlock(), std::logic_error) << "another place holds it";
            },
            m);
        m.unlock();
        EXPECT_THROW(m.unlock(), std::logic_error) << "nobody holds it";
        EXPECT_TRUE(m.try_lock_for(1h));
        m.unlock();
        expect_idle();
        tulle::destroy_global(p);
    }
}

TEST_P(sync_at_home, a_barrier_is_met_by_all) {
    static std::atomic<int> s_arrived;
    s_arrived = 0;
    auto const p = tulle::make_global<tulle::barrier>(place(2), 3);
    at_home const b(p);
    EXPECT_FALSE(b.try_arrive_and_wait());
    EXPECT_FALSE(b.arrive_and_wait_for(3ms)) << "not counted as arrived, as the phases below show";
    tulle::finish([&](tulle::activities& all) {
        for (place const each : tulle::places())
            all.async_at(
                each,
                [](at_home<tulle::barrier> own) {
                    for (int phase = 1; phase <= 10; ++phase) {
                        ++s_arrived;
                        own.arrive_and_wait();
                        EXPECT_GE(s_arrived, 3 * phase);
                        own.arrive_and_wait();
                    }
                },
                b);
    });
    EXPECT_EQ(s_arrived, 30);
    tulle::destroy_global(p);
    expect_idle();
    EXPECT_THROW(static_cast<void>(tulle::make_global<tulle::barrier>(place(1), 0)),
                 std::invalid_argument);
}

TEST_P(sync_at_home, a_signal_counts_what_all_tell) {
    auto const p = tulle::make_global<tulle::signal>(place(1), 1U);
    at_home const s(p);
    s.add_signalers(3);
    EXPECT_FALSE(s.try_wait());
    EXPECT_FALSE(s.wait_for(3ms));
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 4; ++k)
            all.async_at(
                place(k % 3), [](at_home<tulle::signal> own) { own.notify(); }, s);
        all.async_at(
            place(2), [](at_home<tulle::signal> own) { own.wait(); }, s);
    });
    EXPECT_TRUE(s.try_wait());
    EXPECT_TRUE(s.wait_until(std::chrono::steady_clock::now() + 1h));
    tulle::destroy_global(p);
}

TEST_P(sync_at_home, values_of_any_type_go_from_hand_to_hand) {
    static tulle::full_empty<std::string> s_box;
    static std::atomic<std::size_t> s_bytes;
    s_bytes = 0;
    auto const ref = tulle::at(place(1), [] { return tulle::global_ref(s_box); });
    at_home const box(ref);
    EXPECT_FALSE(box.is_full());
    EXPECT_FALSE(box.try_read_fe_for(2ms));
    tulle::finish([&](tulle::activities& all) {
        for (place const each : tulle::places()) {
            all.async_at(
                each,
                [](at_home<tulle::full_empty<std::string>> own) {
                    for (std::size_t k = 0; k < 10; ++k) own.write_ef(std::string(k * 400, 'x'));
                },
                box);
            all.async_at(
                each,
                [](at_home<tulle::full_empty<std::string>> own) {
                    for (int k = 0; k < 10; ++k) s_bytes += own.read_fe().size();
                },
                box);
        }
    });
    EXPECT_EQ(s_bytes, 3U * 400U * 45U);
    box.write_f("a");
    EXPECT_FALSE(box.try_write_ef("b"));
    EXPECT_TRUE(box.try_write_ff("c"));
    EXPECT_EQ(box.read_fe(tulle::wait_limit(1h)), "c");
    box.empty();
    box.fill();
    box.purge();
    EXPECT_FALSE(box.is_full());
    expect_idle();
}

struct two_words {
    long a = 0, b = 0;
    friend bool operator==(two_words const&, two_words const&) = default;
};
TEST_P(sync_at_home, values_that_can_be_copied_are_read_and_stay) {
    auto const p = tulle::make_global<tulle::full_empty<two_words>>(place(2), two_words{1, 2});
    at_home const box(p);
    EXPECT_EQ(box.read_ff(), (two_words{1, 2}));
    EXPECT_EQ(box.read_xx(), (two_words{1, 2}));
    EXPECT_EQ(box.try_read_ff_for(1h), (two_words{1, 2}));
    EXPECT_EQ(box.read_fe(), (two_words{1, 2}));
    EXPECT_FALSE(box.try_read_ff());
    tulle::destroy_global(p);
}

TEST_P(sync_at_home, messages) {
    auto const word = make_word(1);
    auto const sent_by = [&](auto action) {
        yield_until([&] { return m_places.endpoint(1).waiting_to_leave() == 0; });
        std::uint64_t const before = m_places.network().sent();
        action();
        return m_places.network().sent() - before;
    };
    EXPECT_EQ(sent_by([&] { feb::write_ef(word, 1); }), 2U);
    EXPECT_EQ(sent_by([&] { EXPECT_EQ(feb::try_read_fe_for(word, 1h), 1); }), 2U)
        << "a limit costs nothing as long as it is not reached";
    EXPECT_EQ(sent_by([&] { EXPECT_FALSE(feb::try_read_fe(word)); }), 2U);
    EXPECT_EQ(sent_by([&] { EXPECT_FALSE(feb::try_read_fe_for(word, 2ms)); }), 4U);
    auto const own = make_word(0);
    EXPECT_EQ(sent_by([&] { feb::write_ef(own, 1); }), 0U);
    free_word(word);
    free_word(own);
}

// --- deaths --------------------------------------------------------------------------------------

class sync_and_deaths : started, public testing::TestWithParam<named_network> {
protected:
    void kill(int which) { m_places.network().kill(static_cast<tulle::net::rank>(which), SIGKILL); }
    void bury(int which) {
        kill(which);
        for (int k = 0; k < 4; ++k)
            if (k != which)
                yield_until([&] {
                    return m_places.endpoint(k).is_dead(static_cast<tulle::net::rank>(which));
                });
    }
    // By a thread of that place.
    template <class F> auto start(int at, F f) {
        return tulle::spawn([this, at, f]() mutable {
            tulle::messenger::place_context context{&m_places.endpoint(at), nullptr};
            tulle::messenger::scoped_context const here(context);
            return f();
        });
    }
    // What a thread of a place that is cut off does throws dead_place: for it the others have died.
    template <class F> auto start_cut_off(int at, F f) {
        return start(at, [f] { EXPECT_THROW(f(), tulle::dead_place); });
    }
    template <class F> auto start_lonely(int at, F f) { return start_cut_off(at, f); }
    void wait_for_waits_at(int place) {
        yield_until([&] { return !m_places.services(place).state.waits.is_idle(); });
    }

    loopback_places m_places{4, GetParam().options, {.survives = true}};
};
INSTANTIATE_TEST_SUITE_P(networks, sync_and_deaths, unlike_networks(), network_name);

TEST_P(sync_and_deaths, of_the_home_is_told_to_all_that_wait) {
    auto const word = make_word(2);
    auto const mutex = tulle::make_global<tulle::mutex>(place(2));
    auto const barrier = tulle::make_global<tulle::barrier>(place(2), 9);
    auto const signal = tulle::make_global<tulle::signal>(place(2), 1U);
    auto holder = tulle::at(
        place(1),
        [](at_home<tulle::mutex> m) {
            m.lock();
            return 0;
        },
        at_home(mutex));
    EXPECT_EQ(holder, 0);
    auto reader = start_cut_off(0, [=] { feb::read_fe(word); });
    auto limited =
        start_cut_off(3, [=] { static_cast<void>(feb::read_fe(word, tulle::wait_limit(1h))); });
    auto locker = start_cut_off(3, [=] { at_home(mutex).lock(); });
    auto arriving = start_cut_off(1, [=] { at_home(barrier).arrive_and_wait(); });
    auto waiting = start_cut_off(0, [=] { at_home(signal).wait(); });
    wait_for_waits_at(2);
    kill(2);
    reader.join();
    limited.join();
    locker.join();
    arriving.join();
    waiting.join();
    start(1, [=] { at_home(mutex).unlock(); }).join(); // nobody will have it
    EXPECT_THROW(feb::fill(word), tulle::dead_place);
    EXPECT_THROW(at_home(signal).notify(), tulle::dead_place);
}

TEST_P(sync_and_deaths, of_a_waiter_takes_nothing) {
    auto const word = make_word(1);
    auto dying = start_lonely(2, [=] { feb::read_fe(word); });
    wait_for_waits_at(1);
    bury(2);
    feb::write_ef(word, 5);
    EXPECT_EQ(start(3, [=] { return feb::read_fe(word); }).join(), 5);
    dying.join();
    feb::write_ef(word, 6);
    auto writer = start_lonely(3, [=] { feb::write_ef(word, 7); });
    wait_for_waits_at(1);
    bury(3);
    yield_until([&] { return m_places.services(1).state.waits.is_idle(); });
    EXPECT_EQ(feb::read_fe(word), 6);
    EXPECT_FALSE(feb::is_full(word)) << "what the dead wanted to write it has not";
    writer.join();
    free_word(word);
}

// Takes the value when the death of the place that asked is known.
struct taking {
    static constexpr bool k_is_held = false;
    static std::optional<long> run(tulle::detail::home_request const& by, tulle::detail::limit,
                                   tulle::detail::location<long> there) {
        yield_until([&] { return tulle::detail::is_dead_place(by.from); });
        return feb::try_read_fe(there.object());
    }
    static void undo(std::optional<long> const& done, tulle::detail::location<long> there) {
        tulle::detail::feb_at_home<global_ptr<long>>::reading<
            tulle::detail::feb_operation::read_fe>::undo(done, there);
    }
};

TEST_P(sync_and_deaths, what_was_taken_for_the_dead_is_put_back) {
    auto const word = make_word(1);
    feb::write_ef(word, 8);
    auto dying = start_lonely(2, [=] {
        static_cast<void>(
            tulle::detail::call_home<taking>(1, {}, tulle::detail::location_of(word)));
    });
    tulle::this_thread::sleep_for(1ms);
    bury(2);
    EXPECT_EQ(feb::read_fe(word), 8);
    dying.join();
    free_word(word);
}

TEST_P(sync_and_deaths, of_a_place_that_waits_for_a_mutex_leaves_it_to_the_others) {
    auto const p = tulle::make_global<tulle::mutex>(place(1));
    at_home const m(p);
    m.lock();
    auto dying = start_lonely(2, [=] { m.lock(); });
    yield_until([&] { return !m_places.services(1).state.waits.is_idle(); });
    bury(2);
    auto other = start(3, [=] {
        m.lock();
        m.unlock();
    });
    m.unlock();
    other.join();
    dying.join();
    EXPECT_TRUE(m.try_lock_for(1h));
    m.unlock();
    tulle::destroy_global(p);
}

TEST_P(sync_and_deaths, of_a_place_that_holds_a_mutex_is_told_to_all_that_want_it) {
    auto const p = tulle::make_global<tulle::mutex>(place(1));
    at_home const m(p);
    start(2, [=] { m.lock(); }).join();
    auto waiting = start_cut_off(3, [=] { m.lock(); });
    auto at_its_home = start_cut_off(1, [=] { m.lock(); });
    auto limited = start_cut_off(0, [=] { static_cast<void>(m.try_lock_for(1h)); });
    bury(2);
    waiting.join();
    at_its_home.join();
    limited.join();
    EXPECT_THROW(static_cast<void>(m.try_lock()), tulle::dead_place);
    m.unlock(); // what it guards has been seen to
    start(3, [=] { m.lock(), m.unlock(); }).join();
    EXPECT_TRUE(m_places.services(1).state.waits.is_idle());
    tulle::destroy_global(p);
}

TEST_P(sync_and_deaths, of_a_place_that_waits_at_a_barrier_takes_its_arrival_back) {
    auto const p = tulle::make_global<tulle::barrier>(place(1), 2);
    at_home const b(p);
    auto dying = start_lonely(2, [=] { b.arrive_and_wait(); });
    wait_for_waits_at(1);
    bury(2);
    yield_until([&] { return m_places.services(1).state.waits.is_idle(); });
    EXPECT_FALSE(b.try_arrive_and_wait());
    auto other = start(3, [=] { b.arrive_and_wait(); });
    b.arrive_and_wait();
    other.join();
    dying.join();
    tulle::destroy_global(p);
}

// Callers die at any moment of their waits: home keeps nothing of them, and the others go on.
TEST_P(sync_and_deaths, of_callers_at_any_moment) {
    std::uint64_t const seed = 23;
    tulle::base::rng random(seed);
    auto const word = make_word(1);
    std::vector<tulle::thread<void>> dying;
    for (int at = 2; at < 4; ++at)
        for (int k = 0; k < 8; ++k)
            dying.push_back(start(at, [=, stop = random.below(2) == 0] {
                tulle::cancellation_source source;
                source.request_stop_after(stop ? 1ms : 1h);
                try {
                    for (;;) static_cast<void>(feb::read_ff(word, source.get_token()));
                } catch (tulle::dead_place const&) {}
            }));
    for (int at = 2; at < 4; ++at) {
        for (std::uint32_t k = random.below(300); k != 0; --k) tulle::this_thread::yield();
        kill(at);
    }
    for (auto& one : dying) one.join();
    yield_until([&] { return m_places.services(1).state.waits.is_idle(); });
    feb::write_ef(word, 9);
    EXPECT_EQ(feb::read_fe(word), 9) << "seed " << seed;
    free_word(word);
}

class lone_sync_at_home : started, public testing::Test {};

TEST_F(lone_sync_at_home, works_at_a_single_place) {
    auto const word = tulle::allocate_global<long>();
    feb::purge(word);
    auto reader = tulle::spawn([=] { return feb::read_fe(word); });
    feb::write_ef(word, 3);
    EXPECT_EQ(reader.join(), 3);
    free_word(word);
    tulle::mutex own;
    at_home const m{tulle::global_ref(own)};
    m.lock();
    EXPECT_FALSE(own.try_lock());
    EXPECT_FALSE(m.try_lock_for(2ms));
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

} // namespace
