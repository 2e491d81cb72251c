// SPDX-License-Identifier: Apache-2.0
// Active messages over virtual networks: each answer comes to whom it belongs, more of them than
// may be under way, also while all workers of the other places compute.
#include "loopback_places.hpp"
#include "messenger/active_calls.hpp"
#include "named_network.hpp"

#include <tulle/place.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <time.h>

namespace tulle::messenger {
namespace {

using word = std::uint64_t;
using words = std::vector<word>;

// As many words as came, each multiplied by 3, and who has asked.
std::size_t triple(int from, std::span<std::byte const> request, std::byte* answer) noexcept {
    auto const* const in = reinterpret_cast<word const*>(request.data());
    auto* const out = reinterpret_cast<word*>(answer);
    std::size_t const count = request.size() / sizeof(word);
    for (std::size_t k = 0; k < count; ++k) out[k] = 3 * in[k];
    out[count] = static_cast<word>(from);
    return request.size() + sizeof(word);
}

std::size_t is_never_answered(int /*from*/, std::span<std::byte const> /*request*/,
                              std::byte* /*answer*/) noexcept {
    return 0;
}

std::atomic<word> s_told{0}; // the sum
std::atomic<int> s_times_told{0};

std::size_t hear(int /*from*/, std::span<std::byte const> told, std::byte* /*answer*/) noexcept {
    s_told += *reinterpret_cast<word const*>(told.data());
    ++s_times_told;
    return 0;
}

words numbers(word first, std::size_t count) {
    words made(count);
    for (std::size_t k = 0; k < count; ++k) made[k] = first + k;
    return made;
}

class active_calls_over : started, public testing::TestWithParam<named_network> {
protected:
    // So many requests to each other place, of up to `most` words.
    void ask_all(std::size_t times, std::size_t most, waits_by how = waits_by::polling) {
        active_calls calls(m_places.endpoint(0), how);
        std::vector<words> asked, answers;
        for (std::size_t k = 0; k < times; ++k) {
            asked.push_back(numbers(1000 * k, 1 + k % most));
            answers.emplace_back(asked.back().size() + 1);
        }
        for (std::size_t k = 0; k < times; ++k)
            calls.ask(static_cast<rank>(1 + k % 2), &triple, std::as_bytes(std::span(asked[k])),
                      std::as_writable_bytes(std::span(answers[k])));
        EXPECT_TRUE(calls.wait());
        for (std::size_t k = 0; k < times; ++k) {
            for (word& each : asked[k]) each *= 3;
            asked[k].push_back(0); // the asker
            EXPECT_EQ(answers[k], asked[k]) << k;
        }
    }

    loopback_places m_places{3, GetParam().options};
};

TEST_P(active_calls_over, answers_belong_to_their_requests) { ask_all(200, 8); }

TEST_P(active_calls_over, as_large_as_messages_may_be) {
    active_calls const any(m_places.endpoint(0));
    ask_all(40, std::min<std::size_t>(any.most_bytes() / sizeof(word) - 1, 4000));
}

TEST_P(active_calls_over, while_all_workers_compute) {
    std::atomic<bool> done{false};
    std::atomic<int> begun{0};
    auto const compute = [&] {
        ++begun;
        while (!done) detail::cpu_pause();
    };
    auto busy = spawn(compute);
    while (begun != 1) this_thread::yield();
    ask_all(20, 3); // by the other worker, which lets nobody else run meanwhile
    done = true;
    busy.join();
}

std::size_t answer_late(int /*from*/, std::span<std::byte const> /*request*/,
                        std::byte* /*answer*/) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 0;
}

// The processor time of the calling OS thread.
std::chrono::nanoseconds used_time() {
    timespec used{};
    EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// It lets no other thread run, so that it stays on its OS thread; and more than may be under way.
TEST_P(active_calls_over, whoever_waits_for_long_leaves_the_processor_to_others) {
    auto const began = std::chrono::steady_clock::now();
    auto const before = used_time();
    active_calls calls(m_places.endpoint(0));
    calls.ask(1, &answer_late, {}, {});
    EXPECT_TRUE(calls.wait());
    auto const used = used_time() - before;
    EXPECT_LT(2 * used, std::chrono::steady_clock::now() - began);
    calls.ask(1, &answer_late, {}, {});
    std::vector<word> answers(100);
    for (word& each : answers)
        calls.ask(2, &triple, {}, std::as_writable_bytes(std::span(&each, 1)));
    EXPECT_TRUE(calls.wait());
    EXPECT_EQ(answers, words(100, 0)); // from place 0
}

TEST_P(active_calls_over, by_several_threads_that_let_others_run) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 10; ++k)
        threads.push_back(spawn([this] { ask_all(60, 5, waits_by::letting_others_run); }));
    for (auto& each : threads) each.join();
}

struct one_worker {
    one_worker() { initialize({.workers = 1}); }
    one_worker(one_worker const&) = delete;
    one_worker& operator=(one_worker const&) = delete;
    ~one_worker() { finalize(); }
};
struct active_calls_of_one_worker : one_worker, testing::Test {
    loopback_places places{2};
};

// An answer that is there before it is waited for lets nobody run. Of a thousand not all are.
TEST_F(active_calls_of_one_worker, others_run_while_a_thread_waits) {
    std::atomic<int> others{0};
    std::atomic<bool> is_answered{false};
    auto other = spawn([&] {
        while (!is_answered) {
            ++others;
            this_thread::yield();
        }
    });
    auto asking = spawn([&] {
        int const before = others;
        active_calls calls(places.endpoint(0), waits_by::letting_others_run);
        for (int asked = 0; asked < 1000 && others == before; ++asked) {
            word answer = 0;
            calls.ask(1, &triple, {}, std::as_writable_bytes(std::span(&answer, 1)));
            EXPECT_TRUE(calls.wait());
        }
        EXPECT_GT(others, before);
        is_answered = true;
    });
    asking.join();
    other.join();
}

// Each once, also those that have found no room.
TEST_P(active_calls_over, what_is_told_comes) {
    s_told = 0;
    s_times_told = 0;
    word sum = 0;
    for (int k = 0; k < 1000; ++k) {
        auto const each = static_cast<word>(1 + k);
        sum += each;
        m_places.endpoint(0).tell(static_cast<rank>(1 + k % 2), &hear,
                                  std::as_bytes(std::span(&each, 1)));
    }
    while (s_times_told < 1000) this_thread::yield();
    ask_all(40, 3); // nothing has come of it but that
    EXPECT_EQ(s_told, sum);
    EXPECT_EQ(s_times_told, 1000);
}

INSTANTIATE_TEST_SUITE_P(networks, active_calls_over, unlike_networks(), network_name);

struct active_calls_of_deaths : started, testing::Test {
    loopback_places places{3, {}, {.survives = true}};
};

TEST_F(active_calls_of_deaths, who_asks_the_dead_is_told) {
    places.network().kill(1, 9);
    while (!places.endpoint(0).is_dead(1)) this_thread::yield();
    active_calls calls(places.endpoint(0));
    calls.ask(1, &is_never_answered, {}, {});
    EXPECT_FALSE(calls.wait());
}

TEST_F(active_calls_of_deaths, who_waits_for_an_answer_is_told) {
    for (int k = 0; k < 20; ++k) {
        active_calls calls(places.endpoint(0));
        word answer = 0;
        calls.ask(2, &triple, {}, std::as_writable_bytes(std::span(&answer, 1)));
        if (k == 10) places.network().kill(2, 9);
        bool const is_answered = calls.wait();
        EXPECT_TRUE(is_answered || k >= 10) << k;
    }
    EXPECT_TRUE(places.endpoint(0).is_dead(2));
}

std::string what_is_thrown(endpoint const& at, net::rank dead) {
    try {
        at.throw_death(dead);
    } catch (dead_place const& thrown) {
        return thrown.what();
    }
}

TEST_F(active_calls_of_deaths, another_place_may_tell_of_it_first) {
    endpoint const& told = places.endpoint(0);
    EXPECT_EQ(what_is_thrown(told, 1), "tulle: place 1 has died: nobody knows how");
    places.network().kill(1, 9);
    while (!told.is_dead(1)) this_thread::yield();
    EXPECT_EQ(what_is_thrown(told, 1), "tulle: place 1 has died: ended by signal 9 (Killed)");
}

TEST_F(active_calls_of_deaths, here_it_is_a_call) {
    word const three = 3;
    std::array<word, 2> answer{};
    EXPECT_TRUE(detail::request_at(0, &triple, std::as_bytes(std::span(&three, 1)),
                                   std::as_writable_bytes(std::span(answer))));
    EXPECT_EQ(answer[0], 9U);
}

// As in the child of a fork, which is no place of the program any more.
TEST_F(active_calls_of_deaths, nobody_answers_for_places_that_a_process_has_left) {
    s_told = 0;
    word const three = 3;
    std::array<word, 2> answer{};
    EXPECT_FALSE(detail::request_at(1, &triple, std::as_bytes(std::span(&three, 1)),
                                    std::as_writable_bytes(std::span(answer))));
    detail::tell_at(1, &hear, std::as_bytes(std::span(&three, 1)));
    EXPECT_EQ(answer[0], 0U);
    EXPECT_EQ(s_told, 0U);
}

TEST_F(active_calls_of_deaths, here_it_is_heard_at_once_and_the_dead_hear_nothing) {
    s_told = 0;
    word const three = 3;
    detail::tell_at(0, &hear, std::as_bytes(std::span(&three, 1)));
    EXPECT_EQ(s_told, 3U);
    places.network().kill(1, 9);
    while (!places.endpoint(0).is_dead(1)) this_thread::yield();
    places.endpoint(0).tell(1, &hear, std::as_bytes(std::span(&three, 1)));
    places.endpoint(0).tell(2, &hear, std::as_bytes(std::span(&three, 1)));
    while (s_told == 3U) this_thread::yield();
    EXPECT_EQ(s_told, 6U);
}

} // namespace
} // namespace tulle::messenger
