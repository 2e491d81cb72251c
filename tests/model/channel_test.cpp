// SPDX-License-Identifier: Apache-2.0
//
// Channels and select: each item arrives once and whole, nobody sleeps on what could go on (it
// would show as a deadlock), and a thread that waits in several channels at once, or until a limit,
// is served once and leaves nothing behind.
#include "sync/channel_select.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking;
using core = sync::channel_core<parking>;
using limit = wait::limit<parking>;

constexpr limit k_forever{detail::k_no_deadline};

void move_int(void* to, void* from, std::size_t) noexcept {
    ::new (to) int(*static_cast<int*>(from));
}
void destroy_int(void*, std::size_t) noexcept {}
constexpr detail::item_type k_ints{sizeof(int), alignof(int), &move_int, &destroy_int};

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

// Items are indices of payloads, which the sender writes before and the receiver reads afterwards.
struct post {
    explicit post(std::size_t capacity) : first(k_ints, capacity), second(k_ints, capacity) {}

    model::parking_world world;
    model::cancellation token;
    core first, second;
    std::array<model::plain<int>, 5> payload;
    std::array<int, 5> arrived{}; // each by one thread, read in the end
    model::atomic<int> refused{0};
    model::atomic<int> sent{0};
    model::atomic<int> received{0};

    channel_status send(core& to, int item, limit until) {
        payload[static_cast<std::size_t>(item)].store(item + 100);
        sync::case_node<parking> n;
        sync::channel_select<parking> one;
        one.add(n, to, &item, true);
        auto status = channel_status::not_ready;
        if (one.run(until, status) == nullptr) status = channel_status::not_ready;
        if (status == channel_status::success) sent.fetch_add(1, relaxed);
        if (status == channel_status::not_ready) refused.fetch_add(1, relaxed);
        return status;
    }
    channel_status receive(core& from, limit until) { return receive_any(&from, nullptr, until); }
    channel_status receive_any(core* a, core* b, limit until) {
        int items[2] = {-1, -1};
        sync::case_node<parking> nodes[2];
        sync::channel_select<parking> any;
        any.add(nodes[0], *a, &items[0], false);
        if (b != nullptr) any.add(nodes[1], *b, &items[1], false);
        auto status = channel_status::not_ready;
        auto* const done = any.run(until, status);
        if (done == nullptr) {
            refused.fetch_add(1, relaxed);
            return channel_status::not_ready;
        }
        if (status == channel_status::success) note(items[done - nodes]);
        return status;
    }
    void note(int item) {
        model::check(item >= 0, "an item has come");
        auto const k = static_cast<std::size_t>(item);
        model::check(payload[k].load() == item + 100, "what the sender did is there");
        ++arrived[k];
        received.fetch_add(1, relaxed);
    }
    void finish(core& c) { model::check(c.close(), "closed once"); }
    void check_end() {
        for (int const n : arrived) model::check(n <= 1, "an item arrives once");
        int const left = static_cast<int>(first.size() + second.size());
        model::check(received.load(relaxed) + left == sent.load(relaxed),
                     "an item arrives or is left");
    }
};

class over_capacities : public ::testing::TestWithParam<std::size_t> {};

TEST_P(over_capacities, senders_and_receivers) {
    int parks = 0;
    model::result const r = model::explore("channel", random(30000), [&parks](model::test& t) {
        auto& p = t.make<post>(GetParam());
        for (int k = 0; k < 2; ++k) {
            t.thread([&p, k] {
                static_cast<void>(p.send(p.first, 2 * k, k_forever));
                static_cast<void>(p.send(p.first, 2 * k + 1, k_forever));
            });
            t.thread([&p] {
                static_cast<void>(p.receive(p.first, k_forever));
                static_cast<void>(p.receive(p.first, k_forever));
            });
        }
        t.at_end([&p, &parks] {
            p.check_end();
            model::check(p.received.load(relaxed) == 4, "all have arrived");
            parks += p.world.parks;
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST_P(over_capacities, close_wakes_everybody) {
    model::result const r = model::explore("channel_close", random(30000), [](model::test& t) {
        auto& p = t.make<post>(GetParam());
        for (int k = 0; k < 2; ++k)
            t.thread([&p, k] { static_cast<void>(p.send(p.first, k, k_forever)); });
        t.thread([&p] {
            while (p.receive(p.first, k_forever) != channel_status::closed) {}
        });
        t.thread([&p] { p.finish(p.first); });
        t.at_end([&p] { p.check_end(); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST_P(over_capacities, limits_race_with_items) {
    int refused = 0;
    model::result const r =
        model::explore("channel_limits", random(40000), [&refused](model::test& t) {
            auto& p = t.make<post>(GetParam());
            for (int k = 0; k < 2; ++k) {
                t.thread([&p, k] { static_cast<void>(p.send(p.first, k, {2, &p.token})); });
                t.thread([&p] { static_cast<void>(p.receive(p.first, {2, &p.token})); });
            }
            t.thread([&p] { p.token.request(); });
            t.thread([&p] { p.world.time_passes(); });
            t.at_end([&p, &refused] {
                p.check_end();
                refused += p.refused.load(relaxed);
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(refused), r.executions / 60);
}

TEST_P(over_capacities, one_thread_waits_for_two_channels) {
    int refused = 0;
    model::result const r = model::explore("select", random(40000), [&refused](model::test& t) {
        auto& p = t.make<post>(GetParam());
        t.thread([&p] { static_cast<void>(p.send(p.first, 0, k_forever)); });
        t.thread([&p] { static_cast<void>(p.send(p.second, 1, k_forever)); });
        t.thread([&p] {
            static_cast<void>(p.receive_any(&p.first, &p.second, k_forever));
            static_cast<void>(
                p.receive_any(&p.second, &p.first, {detail::k_no_deadline, &p.token}));
            p.finish(p.first);
            p.finish(p.second);
        });
        t.thread([&p] { p.token.request(); });
        t.at_end([&p, &refused] {
            p.check_end();
            refused += p.refused.load(relaxed);
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(refused, 100);
}

// They take the locks of the same channels, and each might serve the other.
TEST_P(over_capacities, two_threads_wait_for_the_same_two_channels) {
    model::result const r = model::explore("two_selects", random(40000), [](model::test& t) {
        auto& p = t.make<post>(GetParam());
        t.thread([&p] { static_cast<void>(p.receive_any(&p.first, &p.second, k_forever)); });
        t.thread([&p] { static_cast<void>(p.receive_any(&p.second, &p.first, k_forever)); });
        t.thread([&p] { static_cast<void>(p.send(p.first, 0, k_forever)); });
        t.thread([&p] { static_cast<void>(p.send(p.second, 1, k_forever)); });
        t.at_end([&p] {
            p.check_end();
            model::check(p.received.load(relaxed) == 2, "both have arrived");
        });
    });
    EXPECT_TRUE(r.passed()) << r;
}

INSTANTIATE_TEST_SUITE_P(channel, over_capacities, ::testing::Values(0U, 1U, detail::k_unbounded));

TEST(channel, a_sender_and_a_receiver_exhaustively) {
    model::options const o = model::without_heavy_fence(model::exhaustive(2, 300000));
    model::result const r = model::explore("channel_two", o, [](model::test& t) {
        auto& p = t.make<post>(0U);
        t.thread([&p] { static_cast<void>(p.send(p.first, 0, k_forever)); });
        t.thread([&p] { static_cast<void>(p.receive_any(&p.first, &p.second, k_forever)); });
        t.at_end([&p] { p.check_end(); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(channel, every_order_is_needed) {
    auto mutants = model::weaken_each("channel_weakened", random(10000), [](model::test& t) {
        auto& p = t.make<post>(1U);
        t.thread([&p] { static_cast<void>(p.send(p.first, 0, k_forever)); });
        t.thread([&p] { static_cast<void>(p.send(p.second, 1, {2, &p.token})); });
        t.thread([&p] {
            static_cast<void>(p.receive_any(&p.first, &p.second, k_forever));
            static_cast<void>(p.receive_any(&p.second, &p.first, {2, &p.token}));
            p.finish(p.first);
        });
        t.thread([&p] { p.token.request(); });
        t.thread([&p] { p.world.time_passes(); });
        t.at_end([&p] { p.check_end(); });
    });
    // What comes before a request is looked at in cancellation_test.cpp; the outcome of a time-out
    // is acquired for the sake of batches, of which there are none here.
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file == "cancellation_core.hpp" ||
               m.change.where.file == "waiter.hpp";
    });
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace
