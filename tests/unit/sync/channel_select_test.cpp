// SPDX-License-Identifier: Apache-2.0
#include "sync/channel_select.hpp"

#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using tulle::channel;
using tulle::channel_status;
using tulle::receive_case;
using tulle::send_case;

TEST(select, takes_what_is_ready) {
    channel<int> a(1);
    channel<int> b(1);
    receive_case from_a(a);
    receive_case from_b(b);
    EXPECT_EQ(tulle::try_select(from_a, from_b), tulle::no_case);
    b.send(5);
    EXPECT_EQ(tulle::select(from_a, from_b), 1U);
    EXPECT_EQ(from_b.item, 5);
    EXPECT_EQ(from_a.status(), channel_status::not_ready);
    a.send(6);
    EXPECT_EQ(tulle::try_select(from_a, from_b), 0U);
    EXPECT_EQ(from_a.item, 6);
    EXPECT_FALSE(from_b.item) << "of the select before";
    auto const begin = clock_type::now();
    EXPECT_EQ(tulle::select_for(2ms, from_a, from_b), tulle::no_case);
    EXPECT_GE(clock_type::now() - begin, 2ms);
}

TEST(select, sends) {
    channel<std::unique_ptr<int>> a(1);
    channel<int> b(1);
    send_case to_a(a, std::make_unique<int>(3));
    send_case to_b(b, 4);
    b.send(0);
    EXPECT_EQ(tulle::select(to_a, to_b), 0U);
    EXPECT_EQ(to_a.item, nullptr);
    EXPECT_EQ(**a.receive(), 3);
    to_a.item = std::make_unique<int>(7);
    a.send(nullptr);
    EXPECT_EQ(tulle::try_select(to_a, to_b), tulle::no_case);
    EXPECT_EQ(*to_a.item, 7) << "kept";
    EXPECT_EQ(b.receive(), 0);
    EXPECT_EQ(tulle::select(to_a, to_b), 1U);
    EXPECT_EQ(b.receive(), 4);
}

TEST(select, a_closed_channel_is_ready) {
    channel<int> a(1);
    channel<int> b(1);
    receive_case from_a(a);
    send_case to_b(b, 1);
    b.send(0);
    a.close();
    EXPECT_EQ(tulle::select(from_a, to_b), 0U);
    EXPECT_EQ(from_a.status(), channel_status::closed);
    EXPECT_FALSE(from_a.item);
    b.close();
    EXPECT_NE(tulle::select(from_a, to_b), tulle::no_case);
}

TEST(select, waits_and_leaves_nothing_in_the_others) {
    channel<int> a(0);
    channel<int> b(0);
    channel<int> c(tulle::unbounded);
    for (int k = 0; k < 200; ++k) {
        auto waiter = tulle::spawn([&] {
            receive_case from_a(a);
            receive_case from_b(b);
            receive_case from_c(c);
            return tulle::select(from_a, from_b, from_c);
        });
        if (k % 2 == 0) tulle::this_thread::yield();
        std::size_t const which = static_cast<std::size_t>(k % 3);
        std::array<channel<int>*, 3>{&a, &b, &c}[which]->send(k);
        EXPECT_EQ(waiter.join(), which);
        EXPECT_EQ(a.try_send(1), channel_status::not_ready);
        EXPECT_EQ(b.try_send(1), channel_status::not_ready);
        EXPECT_EQ(c.size(), 0U);
    }
}

TEST(select, two_cases_of_one_channel) {
    channel<int> c(0);
    auto other = tulle::spawn([&c] { return c.receive(); });
    receive_case from(c);
    send_case to(c, 9);
    EXPECT_EQ(tulle::select(from, to), 1U) << "it does not serve itself";
    EXPECT_EQ(other.join(), 9);
    EXPECT_EQ(tulle::select_for(1ms, from, to), tulle::no_case);
    receive_case again(c);
    send_case twice(c, 8);
    EXPECT_EQ(tulle::select_for(1ms, to, from, twice, again), tulle::no_case);
    EXPECT_EQ(c.try_receive(), std::nullopt);
}

TEST(select, each_ready_case_gets_its_turn) {
    channel<int> a(1);
    channel<int> b(1);
    receive_case from_a(a);
    receive_case from_b(b);
    std::array<int, 2> times{};
    for (int k = 0; k < 400; ++k) {
        static_cast<void>(a.try_send(1));
        static_cast<void>(b.try_send(1));
        ++times[tulle::select(from_a, from_b)];
    }
    EXPECT_GT(times[0], 100);
    EXPECT_GT(times[1], 100);
}

TEST(select, ends_by_cancellation) {
    channel<int> a(0);
    channel<int> b(0);
    tulle::cancellation_source source;
    auto waiter = tulle::spawn([&] {
        receive_case from_a(a);
        send_case to_b(b, 1);
        return tulle::select(source.get_token(), from_a, to_b);
    });
    tulle::this_thread::sleep_for(1ms);
    source.request_stop();
    EXPECT_EQ(waiter.join(), tulle::no_case);
    EXPECT_EQ(b.try_receive(), std::nullopt);
}

// Threads that pass items on between all channels, in any order; in the end all items are there.
TEST(select, loses_nothing_among_many) {
    constexpr int k_channels = 3;
    constexpr int k_threads = 8;
    constexpr int k_rounds = 1500;
    std::array<channel<int>, k_channels> channels{channel<int>(2), channel<int>(2),
                                                  channel<int>(2)};
    for (auto& c : channels) c.send(1);
    run_in_both_kinds(k_threads - 2, 2, [&](int self) {
        for (int k = 0; k < k_rounds; ++k) {
            receive_case x(channels[static_cast<std::size_t>(self + k) % k_channels]);
            receive_case y(channels[static_cast<std::size_t>(self + k + 1) % k_channels]);
            auto const chosen = k % 5 == 0
                                    ? tulle::select_for(std::chrono::microseconds(k % 30), x, y)
                                    : tulle::select(x, y);
            if (chosen == tulle::no_case) continue;
            int const item = chosen == 0 ? *x.item : *y.item;
            send_case to_first(channels[0], item);
            send_case to_second(channels[1], item);
            send_case to_third(channels[2], item);
            EXPECT_NE(tulle::select(to_third, to_first, to_second), tulle::no_case);
        }
    });
    int sum = 0;
    for (auto& c : channels)
        while (auto const item = c.try_receive()) sum += *item;
    EXPECT_EQ(sum, 3);
}

} // namespace
