// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"
#include "channel_model.hpp"
#include "linearizability.hpp"
#include "runtime_fixture.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using tulle::channel;
using tulle::channel_status;

TEST(channel, keeps_order_up_to_its_capacity) {
    channel<int> c(2);
    EXPECT_EQ(c.send(1), channel_status::success);
    EXPECT_EQ(c.try_send(2), channel_status::success);
    EXPECT_EQ(c.try_send(3), channel_status::not_ready);
    EXPECT_EQ(c.send_for(3, 1ms), channel_status::not_ready);
    EXPECT_EQ(c.size(), 2U);
    EXPECT_EQ(c.receive(), 1);
    EXPECT_EQ(c.try_receive(), 2);
    channel_status status = channel_status::success;
    EXPECT_EQ(c.try_receive(&status), std::nullopt);
    EXPECT_EQ(status, channel_status::not_ready);
    auto const begin = clock_type::now();
    EXPECT_EQ(c.receive_until(begin + 2ms), std::nullopt);
    EXPECT_GE(clock_type::now() - begin, 2ms);
}

TEST(channel, of_more_than_there_is_memory) {
    EXPECT_THROW(channel<int>(PTRDIFF_MAX), std::bad_alloc);
    EXPECT_THROW(channel<char>(PTRDIFF_MAX), std::bad_alloc);
}

TEST(channel, unbounded_never_waits) {
    channel<int> c(tulle::unbounded);
    for (int k = 0; k < 10000; ++k) EXPECT_EQ(c.try_send(k), channel_status::success);
    EXPECT_EQ(c.size(), 10000U);
    for (int k = 0; k < 10000; ++k) ASSERT_EQ(c.receive_for(1s), k);
}

TEST(channel, closed_gives_what_is_left) {
    channel<int> c(3);
    c.send(1);
    EXPECT_FALSE(c.is_closed());
    EXPECT_TRUE(c.close());
    EXPECT_FALSE(c.close());
    EXPECT_TRUE(c.is_closed());
    EXPECT_EQ(c.send(2), channel_status::closed);
    EXPECT_EQ(c.receive(), 1);
    EXPECT_EQ(c.receive(), std::nullopt);
    channel_status status = channel_status::success;
    EXPECT_EQ(c.receive_for(1h, &status), std::nullopt);
    EXPECT_EQ(status, channel_status::closed);
}

TEST(channel, close_ends_all_waits) {
    channel<int> full(1);
    channel<int> empty(1);
    full.send(0);
    std::atomic<int> ended{0};
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 5; ++k) {
        threads.push_back(tulle::spawn([&] { ended += full.send(1) == channel_status::closed; }));
        threads.push_back(tulle::spawn([&] { ended += !empty.receive(); }));
    }
    tulle::this_thread::sleep_for(2ms);
    full.close();
    empty.close();
    for (auto& t : threads) t.join();
    EXPECT_EQ(ended.load(), 10);
    EXPECT_EQ(full.receive(), 0);
}

TEST(channel, without_capacity_both_meet) {
    channel<int> c(0);
    EXPECT_EQ(c.try_send(1), channel_status::not_ready);
    EXPECT_EQ(c.try_receive(), std::nullopt);
    std::atomic<bool> sent{false};
    auto sender = tulle::spawn([&] {
        c.send(7);
        sent = true;
    });
    tulle::this_thread::sleep_for(2ms);
    EXPECT_FALSE(sent);
    EXPECT_EQ(c.receive(), 7);
    sender.join();
    auto receiver = tulle::spawn([&] { return c.receive(); });
    EXPECT_EQ(c.send_for(8, 1h), channel_status::success);
    EXPECT_EQ(receiver.join(), 8);
}

TEST(channel, moves_items_and_loses_none) {
    auto const counted = std::make_shared<int>(5);
    {
        channel<std::shared_ptr<int>> c(2);
        c.send(counted);
        c.send(counted);
        std::shared_ptr<int> third = counted;
        EXPECT_EQ(c.try_send(std::move(third)), channel_status::not_ready);
        EXPECT_EQ(third, counted) << "an item that was not sent stays";
        EXPECT_EQ(counted.use_count(), 4);
        EXPECT_EQ(*c.receive().value(), 5);
        EXPECT_EQ(counted.use_count(), 3);
    }
    EXPECT_EQ(counted.use_count(), 1) << "what is left is destroyed";
    channel<std::unique_ptr<int>> unique(1);
    unique.send(std::make_unique<int>(3));
    EXPECT_EQ(**unique.receive(), 3);
    channel<std::string> text(tulle::unbounded);
    text.send("a long string that does not fit into itself");
    EXPECT_EQ(text.receive(), "a long string that does not fit into itself");
}

TEST(channel, is_a_range) {
    channel<int> c(3);
    auto sender = tulle::spawn([&c] {
        for (int k = 1; k <= 100; ++k) c.send(k);
        c.close();
    });
    int sum = 0;
    for (int const k : c) sum += k;
    EXPECT_EQ(sum, 5050);
    sender.join();
}

class over_capacities : public ::testing::TestWithParam<std::size_t> {
protected:
    static channel<int> make() {
        return GetParam() == tulle::detail::k_unbounded ? channel<int>(tulle::unbounded)
                                                        : channel<int>(GetParam());
    }
};

// Each item arrives once, and those of one sender in their order.
TEST_P(over_capacities, many_senders_many_receivers) {
    constexpr int k_senders = 5;
    constexpr int k_receivers = 5;
    constexpr int k_items = 2000;
    channel<int> c = make();
    std::vector<std::vector<int>> received(k_receivers);
    std::atomic<int> senders{k_senders};
    run_in_both_kinds(k_senders + k_receivers - 2, 2, [&](int self) {
        if (self % 2 == 0) {
            for (int k = 0; k < k_items; ++k) {
                int const item = self / 2 * k_items + k;
                if (k % 7 == 0)
                    while (c.send_for(item, std::chrono::microseconds(k % 20)) !=
                           channel_status::success)
                        tulle::this_thread::yield();
                else
                    c.send(item);
            }
            if (--senders == 0) c.close();
        } else {
            for (int const item : c) received[static_cast<std::size_t>(self / 2)].push_back(item);
        }
    });
    std::vector<int> times(k_senders * k_items, 0);
    for (auto const& row : received) {
        std::vector<int> last(k_senders, -1);
        for (int const item : row) {
            ++times[static_cast<std::size_t>(item)];
            int& before = last[static_cast<std::size_t>(item / k_items)];
            EXPECT_LT(before, item);
            before = item;
        }
    }
    for (int const n : times) ASSERT_EQ(n, 1);
}

using recorder = linearizability::recorder<channel_operation>;
using kind = channel_operation::kind;

void random_step(channel<int>& c, recorder& r, tulle::base::rng& random, int item) {
    auto const brief = std::chrono::microseconds(random.below(20));
    channel_status status{};
    auto const got = [&](std::optional<int> value, bool waits) {
        return channel_operation{kind::receive, value.value_or(0), status, waits};
    };
    switch (random.below(13)) {
        case 0:
        case 1:
            return r.record([&] {
                return channel_operation{kind::send, item, c.try_send(item), false};
            });
        case 2:
        case 3:
            return r.record([&] {
                return channel_operation{kind::send, item, c.send_for(item, brief), true};
            });
        case 4:
        case 5: return r.record([&] { return got(c.try_receive(&status), false); });
        case 6:
        case 7: return r.record([&] { return got(c.receive_for(brief, &status), true); });
        case 8: {
            tulle::cancellation_source source;
            source.request_stop_after(brief);
            return r.record([&] { return got(c.receive(source.get_token(), &status), true); });
        }
        case 9: {
            tulle::receive_case here(c);
            return r.record([&] {
                static_cast<void>(tulle::try_select(here));
                status = here.status();
                return got(here.item, false);
            });
        }
        case 10: {
            tulle::send_case here(c, item);
            return r.record([&] {
                static_cast<void>(tulle::select_for(brief, here));
                return channel_operation{kind::send, item, here.status(), true};
            });
        }
        case 11: return tulle::this_thread::yield();
        default:
            if (random.below(6) == 0)
                r.record([&] {
                    return channel_operation{
                        kind::close, 0,
                        c.close() ? channel_status::success : channel_status::closed, false};
                });
    }
}

// Without a buffer a send and its receive happen at one moment, which is no such model.
class over_buffers : public over_capacities {};

TEST_P(over_buffers, histories_are_linearizable) {
    std::uint64_t const seed = test_seed();
    constexpr int k_rounds = 150;
    constexpr int k_threads = 5;
    constexpr int k_steps = 9;
    for (int round = 0; round < k_rounds; ++round) {
        channel<int> c = make();
        std::atomic<std::uint64_t> clock{0};
        std::vector<recorder> recorders(k_threads, recorder(clock));
        run_in_both_kinds(k_threads - 1, round % 4 == 0 ? 1 : 0, [&](int self) {
            tulle::base::rng random(seed + static_cast<std::uint64_t>(round * 100 + self));
            auto& mine = recorders[static_cast<std::size_t>(self)];
            for (int k = 0; k < k_steps; ++k) random_step(c, mine, random, self * 100 + k + 1);
        });
        std::vector<linearizability::event<channel_operation>> history;
        for (auto const& r : recorders)
            history.insert(history.end(), r.events().begin(), r.events().end());
        ASSERT_TRUE(
            (linearizability::checker<channel_model, channel_operation>(history).is_linearizable(
                channel_model{GetParam()})))
            << round;
    }
}

INSTANTIATE_TEST_SUITE_P(channel, over_capacities,
                         ::testing::Values(0U, 1U, 2U, 5U, tulle::detail::k_unbounded));
INSTANTIATE_TEST_SUITE_P(channel, over_buffers,
                         ::testing::Values(1U, 2U, 5U, tulle::detail::k_unbounded));

// --- the check itself ----------------------------------------------------------------------------

bool is_possible(std::vector<linearizability::event<channel_operation>> const& history,
                 std::size_t capacity) {
    return linearizability::checker<channel_model, channel_operation>(history).is_linearizable(
        channel_model{capacity});
}

TEST(linearizability, tells_possible_histories_from_others) {
    channel_operation const send_1{kind::send, 1, channel_status::success, false};
    channel_operation const send_2{kind::send, 2, channel_status::success, false};
    channel_operation const receive_1{kind::receive, 1, channel_status::success, false};
    channel_operation const receive_2{kind::receive, 2, channel_status::success, false};
    channel_operation const none{kind::receive, 0, channel_status::not_ready, false};
    EXPECT_TRUE(
        is_possible({{send_1, 0, 1}, {send_2, 2, 3}, {receive_1, 4, 5}, {receive_2, 6, 7}}, 2));
    EXPECT_FALSE(
        is_possible({{send_1, 0, 1}, {send_2, 2, 3}, {receive_2, 4, 5}, {receive_1, 6, 7}}, 2))
        << "order";
    EXPECT_TRUE(
        is_possible({{send_1, 0, 3}, {send_2, 1, 2}, {receive_2, 4, 5}, {receive_1, 6, 7}}, 2))
        << "sent at once";
    EXPECT_FALSE(is_possible({{send_1, 0, 1}, {send_2, 2, 3}, {receive_1, 4, 5}}, 1)) << "capacity";
    EXPECT_TRUE(is_possible({{send_1, 0, 1}, {send_2, 2, 5}, {receive_1, 3, 4}}, 1));
    EXPECT_FALSE(is_possible({{receive_1, 0, 1}, {send_1, 2, 3}}, 1)) << "before it was sent";
    EXPECT_FALSE(is_possible({{send_1, 0, 1}, {receive_1, 2, 3}, {receive_1, 4, 5}}, 1)) << "twice";
    EXPECT_FALSE(is_possible({{send_1, 0, 1}, {none, 2, 3}}, 1)) << "not seen";
    EXPECT_TRUE(is_possible({{send_1, 0, 3}, {none, 1, 2}}, 1));
    channel_operation const close{kind::close, 0, channel_status::success, false};
    channel_operation const closed{kind::receive, 0, channel_status::closed, false};
    EXPECT_TRUE(is_possible({{send_1, 0, 1}, {close, 2, 3}, {receive_1, 4, 5}, {closed, 6, 7}}, 1));
    EXPECT_FALSE(is_possible({{send_1, 0, 1}, {close, 2, 3}, {closed, 4, 5}}, 1))
        << "something is left";
    EXPECT_FALSE(is_possible({{close, 0, 1}, {close, 2, 3}}, 1)) << "twice";
}

} // namespace
