// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(cancellation_source, is_cancelled_once) {
    tulle::cancellation_source source;
    tulle::cancellation_token const token = source.get_token();
    EXPECT_TRUE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_TRUE(source.request_stop());
    EXPECT_FALSE(source.request_stop());
    EXPECT_TRUE(token.stop_requested() && source.stop_requested());
    token.wait();
    EXPECT_TRUE(token.wait_for(-1s));
}

TEST(cancellation_source, a_token_outlives_it) {
    tulle::cancellation_token token;
    EXPECT_FALSE(token.stop_possible() || token.stop_requested());
    {
        tulle::cancellation_source source;
        token = source.get_token();
        EXPECT_EQ(token, source.get_token());
        EXPECT_NE(token, tulle::cancellation_token());
    }
    EXPECT_FALSE(token.stop_requested());
    EXPECT_FALSE(token.wait_for(1ms));
}

TEST(cancellation_source, copies_are_the_same) {
    tulle::cancellation_source source;
    tulle::cancellation_source copy = source;
    copy.request_stop();
    EXPECT_TRUE(source.stop_requested());
    EXPECT_EQ(copy.get_token(), source.get_token());
}

TEST(cancellation_source, a_part_ends_with_the_whole_or_alone) {
    tulle::cancellation_source whole;
    tulle::cancellation_source part(whole.get_token());
    tulle::cancellation_source other(whole.get_token());
    tulle::cancellation_source part_of_part(part.get_token());
    part.request_stop();
    EXPECT_TRUE(part_of_part.stop_requested());
    EXPECT_FALSE(whole.stop_requested() || other.stop_requested());
    whole.request_stop();
    EXPECT_TRUE(other.stop_requested());
    EXPECT_TRUE(tulle::cancellation_source(whole.get_token()).stop_requested()); // from the start
}

TEST(cancellation_source, a_deadline_cancels) {
    tulle::cancellation_source source;
    auto const begin = clock_type::now();
    source.request_stop_after(1h);
    source.request_stop_at(begin + 5ms); // the earlier one counts
    source.request_stop_after(2h);
    source.get_token().wait();
    EXPECT_GE(clock_type::now() - begin, 5ms);
    EXPECT_TRUE(source.stop_requested());
}

TEST(cancellation_source, a_deadline_is_seen_by_a_thread_that_computes) {
    tulle::cancellation_source source;
    tulle::cancellation_source part(source.get_token());
    source.request_stop_after(2ms);
    while (!part.stop_requested()) tulle::detail::cpu_pause(); // no worker has time for timers
    tulle::cancellation_source past;
    past.request_stop_after(-1s);
    EXPECT_TRUE(past.stop_requested());
}

TEST(cancellation_source, dies_with_a_deadline_to_come) {
    for (int k = 0; k < 100; ++k) {
        tulle::cancellation_source source;
        source.request_stop_after(std::chrono::microseconds(k));
        tulle::cancellation_source const part(source.get_token());
        if (k % 2 == 0) tulle::this_thread::yield();
    }
}

TEST(sleep, ends_by_cancellation) {
    tulle::cancellation_source source;
    EXPECT_TRUE(tulle::this_thread::sleep_for(1ms, source.get_token()));
    auto sleeper = tulle::spawn(
        [token = source.get_token()] { return tulle::this_thread::sleep_for(1h, token); });
    EXPECT_FALSE(sleeper.join_for(2ms));
    source.request_stop();
    EXPECT_FALSE(sleeper.join());
    EXPECT_FALSE(tulle::this_thread::sleep_until(clock_type::now() + 1h, source.get_token()));
}

// --- each wait: begins, is cancelled, and is as if it had not been -------------------------------

struct wait_case {
    std::function<bool(tulle::wait_limit const&)> wait; // true: what it waits for came
    std::function<void()> satisfy;                      // lets the next wait succeed
};

struct named_case {
    char const* name;
    wait_case (*make)();
};

class every_wait : public ::testing::TestWithParam<named_case> {};

TEST_P(every_wait, ends_by_cancellation_and_leaves_nothing) {
    wait_case const c = GetParam().make();
    for (bool const from_foreign : {false, true}) {
        tulle::cancellation_source source;
        bool result = true;
        auto const body = [&] { result = c.wait(source.get_token()); };
        std::optional<tulle::thread<void>> green;
        std::optional<std::thread> foreign;
        if (from_foreign)
            foreign.emplace(body);
        else
            green.emplace(tulle::spawn(body));
        tulle::this_thread::sleep_for(3ms);
        source.request_stop();
        if (green) green->join();
        if (foreign) foreign->join();
        EXPECT_FALSE(result);
        EXPECT_FALSE(c.wait(source.get_token())) << "cancelled before";
    }
    EXPECT_FALSE(c.wait(tulle::wait_limit(1ms)));
    EXPECT_FALSE(c.wait({tulle::cancellation_source().get_token(), 1ms}));
    c.satisfy();
    EXPECT_TRUE(c.wait(tulle::cancellation_token()));
}

TEST_P(every_wait, races_of_cancellation_and_time_lose_nothing) {
    wait_case const c = GetParam().make();
    for (int k = 0; k < 200; ++k) {
        tulle::cancellation_source source;
        auto waiter = tulle::spawn([&] {
            return c.wait({source.get_token(), std::chrono::microseconds(k % 50)});
        });
        if (k % 3 == 0) tulle::this_thread::yield();
        source.request_stop();
        EXPECT_FALSE(waiter.join());
    }
    c.satisfy();
    EXPECT_TRUE(c.wait(tulle::cancellation_token()));
}

// Nodes of a wait that lie in its frame are in no list any more when the frame ends: a later
// request would write into what is there then.
[[gnu::noinline]] bool wait_in_a_frame_of_its_own(wait_case const& c,
                                                  tulle::wait_limit const& until) {
    return c.wait(until);
}

[[gnu::noinline]] bool stays_untouched(tulle::latch& is_written, tulle::latch& may_be_read) {
    std::array<unsigned char volatile, 8192> memory{};
    for (auto& byte : memory) byte = 0xee;
    is_written.count_down();
    may_be_read.wait();
    return std::all_of(memory.begin(), memory.end(),
                       [](unsigned char byte) { return byte == 0xee; });
}

TEST_P(every_wait, ends_by_a_wake_up_and_leaves_nothing_in_its_token) {
    for (bool const from_foreign : {false, true}) {
        wait_case const c = GetParam().make();
        tulle::cancellation_source source;
        tulle::latch is_written(1);
        tulle::latch may_be_read(1);
        bool came = false;
        bool untouched = false;
        auto const body = [&] {
            came = wait_in_a_frame_of_its_own(c, {source.get_token(), 1h});
            untouched = stays_untouched(is_written, may_be_read);
        };
        std::optional<tulle::thread<void>> green;
        std::optional<std::thread> foreign;
        if (from_foreign)
            foreign.emplace(body);
        else
            green.emplace(tulle::spawn(body));
        tulle::this_thread::sleep_for(3ms);
        c.satisfy();
        is_written.wait();
        source.request_stop();
        may_be_read.count_down();
        if (green) green->join();
        if (foreign) foreign->join();
        EXPECT_TRUE(came && untouched);
    }
}

wait_case latch_case() {
    auto const l = std::make_shared<tulle::latch>(1);
    return {[l](auto const& until) { return l->wait(until); }, [l] { l->count_down(); }};
}
wait_case signal_case() {
    auto const s = std::make_shared<tulle::signal>(1U);
    return {[s](auto const& until) { return s->wait(until); }, [s] { s->notify(); }};
}
wait_case barrier_case() {
    auto const b = std::make_shared<tulle::barrier>(2);
    auto const other = std::make_shared<tulle::thread<void>>();
    return {[b](auto const& until) { return b->arrive_and_wait(until); },
            [b, other] { *other = tulle::spawn([b] { b->arrive_and_wait(); }); }};
}
wait_case condition_case() {
    struct state {
        tulle::mutex lock;
        tulle::condition_variable changed;
        bool is_true = false;
    };
    auto const s = std::make_shared<state>();
    auto const wait = [s](tulle::wait_limit const& until) {
        std::unique_lock held(s->lock);
        return s->changed.wait(held, until, [s] { return s->is_true; });
    };
    return {wait, [s] {
                std::lock_guard const held(s->lock);
                s->is_true = true;
                s->changed.notify_all();
            }};
}

// Something that is held by another thread, which lets go when told to.
template <class Lock, class Unlock> auto held_by_another(Lock lock, Unlock unlock) {
    auto const release = std::make_shared<tulle::latch>(1);
    auto const holds = std::make_shared<tulle::latch>(1);
    auto const holder =
        std::make_shared<tulle::thread<void>>(tulle::spawn([lock, unlock, release, holds] {
            lock();
            holds->count_down();
            release->wait();
            unlock();
        }));
    holds->wait();
    return [holder, release] {
        release->count_down();
        holder->join();
    };
}
template <class Mutex> wait_case lock_case() {
    auto const m = std::make_shared<Mutex>();
    auto const wait = [m](tulle::wait_limit const& until) {
        bool const locked = m->lock(until);
        if (locked) m->unlock();
        return locked;
    };
    return {wait, held_by_another([m] { m->lock(); }, [m] { m->unlock(); })};
}
wait_case shared_case() {
    auto const m = std::make_shared<tulle::shared_mutex>();
    auto const wait = [m](tulle::wait_limit const& until) {
        bool const locked = m->lock_shared(until);
        if (locked) m->unlock_shared();
        return locked;
    };
    return {wait, held_by_another([m] { m->lock(); }, [m] { m->unlock(); })};
}
wait_case semaphore_case() {
    auto const s = std::make_shared<tulle::binary_semaphore>(0);
    return {[s](auto const& until) { return s->acquire(until); }, [s] { s->release(); }};
}

wait_case thread_case() {
    auto const release = std::make_shared<tulle::latch>(1);
    auto const t =
        std::make_shared<tulle::thread<void>>(tulle::spawn([release] { release->wait(); }));
    return {[t](auto const& until) { return t->try_join(until); },
            [release] { release->count_down(); }};
}
wait_case send_case() {
    auto const c = std::make_shared<tulle::channel<int>>(1);
    c->send(1);
    auto const wait = [c](tulle::wait_limit const& until) {
        return c->send(2, until) == tulle::channel_status::success;
    };
    return {wait, [c] { static_cast<void>(c->receive()); }};
}
wait_case receive_case() {
    auto const c = std::make_shared<tulle::channel<int>>(1);
    return {[c](auto const& until) { return c->receive(until).has_value(); }, [c] { c->send(1); }};
}
wait_case phase_case() {
    auto const b = std::make_shared<tulle::phased_barrier<>>(2);
    auto const arrival = std::make_shared<tulle::phased_barrier<>::arrival_token>(b->arrive());
    return {[b, arrival](auto const& until) { return b->wait(*arrival, until); },
            [b] { static_cast<void>(b->arrive()); }};
}

// A word is full at first; it is full again when the last who uses it goes.
std::shared_ptr<long> word_of_its_own() {
    return {new long(1), [](long* w) {
                tulle::feb::fill(*w);
                delete w;
            }};
}
wait_case word_full_case() {
    auto const w = word_of_its_own();
    tulle::feb::empty(*w);
    return {[w](auto const& until) { return tulle::feb::read_ff(*w, until).has_value(); },
            [w] { tulle::feb::fill(*w); }};
}
wait_case word_taken_case() {
    auto const w = word_of_its_own();
    tulle::feb::empty(*w);
    return {[w](auto const& until) { return tulle::feb::read_fe(*w, until).has_value(); },
            [w] { tulle::feb::write_f(*w, 2); }};
}
wait_case word_empty_case() {
    auto const w = word_of_its_own();
    return {[w](auto const& until) { return tulle::feb::write_ef(*w, 2, until); },
            [w] { tulle::feb::empty(*w); }};
}
wait_case cell_full_case() {
    auto const c = std::make_shared<tulle::full_empty<std::string>>();
    return {[c](auto const& until) { return c->read_fe(until).has_value(); },
            [c] { c->write_ef("x"); }};
}
wait_case cell_empty_case() {
    auto const c = std::make_shared<tulle::full_empty<std::string>>("x");
    return {[c](auto const& until) { return c->write_ef(std::string("y"), until); },
            [c] { c->empty(); }};
}
wait_case address_case() {
    auto const byte = std::make_shared<char>();
    auto const wait = [byte](tulle::wait_limit const& until) {
        tulle::address_lock lock(byte.get());
        bool const locked = lock.lock(until);
        if (locked) lock.unlock();
        return locked;
    };
    return {wait, held_by_another([byte] { tulle::address_lock(byte.get()).lock(); },
                                  [byte] { tulle::address_lock(byte.get()).unlock(); })};
}
wait_case future_case() {
    auto const p = std::make_shared<tulle::promise<int>>();
    auto const f = std::make_shared<tulle::future<int>>(p->get_future());
    return {[f](auto const& until) { return f->wait(until); }, [p] { p->set_value(1); }};
}
wait_case place_case() {
    struct state {
        tulle::latch release{1};
        tulle::spawn_group group{1, tulle::when_full::block};
        ~state() { group.join(); }
    };
    auto const s = std::make_shared<state>();
    s->group.spawn([s = s.get()] { s->release.wait(); });
    return {[s](auto const& until) { return s->group.spawn(until, [] {}); },
            [s] { s->release.count_down(); }};
}

INSTANTIATE_TEST_SUITE_P(of_words_and_futures, every_wait,
                         ::testing::Values(named_case{"word_full", &word_full_case},
                                           named_case{"word_taken", &word_taken_case},
                                           named_case{"word_empty", &word_empty_case},
                                           named_case{"cell_full", &cell_full_case},
                                           named_case{"cell_empty", &cell_empty_case},
                                           named_case{"address_lock", &address_case},
                                           named_case{"future", &future_case},
                                           named_case{"place", &place_case}),
                         [](auto const& chosen) { return std::string(chosen.param.name); });

INSTANTIATE_TEST_SUITE_P(
    of_the_library, every_wait,
    ::testing::Values(
        named_case{"latch", &latch_case}, named_case{"signal", &signal_case},
        named_case{"mutex", &lock_case<tulle::mutex>}, named_case{"barrier", &barrier_case},
        named_case{"condition", &condition_case}, named_case{"semaphore", &semaphore_case},
        named_case{"shared_mutex", &lock_case<tulle::shared_mutex>},
        named_case{"shared_mutex_shared", &shared_case},
        named_case{"recursive_mutex", &lock_case<tulle::recursive_mutex>},
        named_case{"spin_lock", &lock_case<tulle::spin_lock>}, named_case{"thread", &thread_case},
        named_case{"channel_send", &send_case}, named_case{"channel_receive", &receive_case},
        named_case{"phase", &phase_case}),
    [](auto const& chosen) { return std::string(chosen.param.name); });

TEST(cancellation, ends_very_many_waits) {
    constexpr int k_waiters = 2000;
    tulle::latch never(1);
    tulle::cancellation_source source;
    std::atomic<int> ended{0};
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < k_waiters; ++k)
        threads.push_back(tulle::spawn([&] { ended += never.wait(source.get_token()) ? 0 : 1; }));
    tulle::this_thread::yield();
    source.request_stop();
    for (auto& t : threads) t.join();
    EXPECT_EQ(ended.load(), k_waiters);
}

TEST(cancellation, by_an_os_thread_that_uses_nothing_else) {
    tulle::cancellation_source source;
    auto waiter = tulle::spawn([token = source.get_token()] { token.wait(); });
    std::thread([&source] { source.request_stop(); }).join();
    waiter.join();
}

} // namespace
