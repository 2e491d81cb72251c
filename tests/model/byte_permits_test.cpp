// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a spawn_group: never more held than there are, none is lost, nobody waits for ever
// (it would show as a deadlock), also when the one in front gives up, and nobody is overtaken.
#include "base/sanitize.hpp"
#include "group/byte_permits.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace {

using namespace tulle;
using enum std::memory_order;
using byte_permits = group::byte_permits<model::parking>;

struct byte_counts {
    std::size_t parks = 0;
    std::size_t time_outs = 0;
    std::size_t kept = 0;
    std::size_t refused = 0;
};

struct byte_shape {
    std::size_t most = 1;
    std::vector<std::size_t> threads{}; // that wait for so many bytes
    std::vector<std::size_t> timed{};   // that wait until time passes
    std::vector<std::size_t> records{}; // that are kept
    std::vector<std::size_t> tries{};   // that do not wait
};

struct group_of_bytes {
    explicit group_of_bytes(std::size_t limit) : of(limit), most(limit) {}

    model::parking_world world;
    byte_permits of;
    std::size_t most;
    model::atomic<std::size_t> inside{0};
    model::plain<int> only_one{0}; // touched by a thread that holds all bytes
    std::array<byte_permits::kept, 4> kept;
    byte_counts seen;

    void run(std::size_t bytes) {
        std::size_t const others = inside.fetch_add(bytes, relaxed);
        model::check(others + bytes <= most, "no more bytes than there are");
        if (bytes == most) only_one.store(only_one.load() + 1);
        inside.fetch_sub(bytes, relaxed);
        byte_permits::served next;
        of.give_back(bytes, next);
        start(next);
    }
    // The thread that serves records runs them.
    void start(byte_permits::served& next) {
        while (byte_permits::kept* const r = next.records.pop_front()) run(r->bytes);
    }
    void take(std::size_t bytes) {
        of.take(bytes);
        run(bytes);
    }
    void take_in_time(std::size_t bytes) {
        byte_permits::served next;
        bool const has_bytes = of.take_until(bytes, 2, next);
        start(next);
        has_bytes ? run(bytes) : void(++seen.time_outs);
    }
    void keep(std::size_t index, std::size_t bytes) {
        kept[index].bytes = bytes;
        of.keep(kept[index]) ? void(++seen.kept) : run(bytes);
    }
    void try_once(std::size_t bytes) { of.try_take(bytes) ? run(bytes) : void(++seen.refused); }
};

model::test_body body(byte_shape s, byte_counts* seen = nullptr) {
    return [=](model::test& t) {
        auto& g = t.make<group_of_bytes>(s.most);
        for (std::size_t const n : s.threads) t.thread([&g, n] { g.take(n); });
        for (std::size_t const n : s.timed) t.thread([&g, n] { g.take_in_time(n); });
        for (std::size_t i = 0; i < s.records.size(); ++i)
            t.thread([&g, i, n = s.records[i]] { g.keep(i, n); });
        for (std::size_t const n : s.tries) t.thread([&g, n] { g.try_once(n); });
        if (!s.timed.empty()) t.thread([&g] { g.world.time_passes(); });
        t.at_end([=, &g] {
            model::check(g.of.held() == 0 && g.of.holders() == 0, "all bytes have come back");
            if (seen == nullptr) return;
            seen->parks += static_cast<std::size_t>(g.world.parks);
            seen->time_outs += g.seen.time_outs;
            seen->kept += g.seen.kept;
            seen->refused += g.seen.refused;
        });
    };
}

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(byte_permits, threads_of_all_sizes_wait_for_each_other) {
    byte_counts seen;
    model::result const r = model::explore("bytes_threads", random(10000),
                                           body({.most = 3, .threads = {3, 1, 2, 3}}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.parks, r.executions / 20);
}

TEST(byte_permits, what_comes_free_serves_several) {
    model::options const o =
        model::without_heavy_fence(model::exhaustive(2, base::k_thread_sanitizer ? 2000 : 20000));
    model::result const r =
        model::explore("bytes_several", o, body({.most = 2, .threads = {2, 1, 1}}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(byte_permits, records_and_threads_are_served_in_their_order) {
    byte_counts seen;
    model::result const r =
        model::explore("bytes_records", random(10000),
                       body({.most = 2, .threads = {2, 1}, .records = {2, 1}}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.kept, r.executions / 20);
}

// The one that gives up stood in front of smaller ones, which had to wait behind it.
TEST(byte_permits, a_time_out_lets_those_behind_go_on) {
    byte_counts seen;
    model::result const r =
        model::explore("bytes_timed", random(20000),
                       body({.most = 2, .threads = {1}, .timed = {2}, .records = {1, 1}}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.time_outs, r.executions / 200);
}

TEST(byte_permits, who_tries_does_not_wait) {
    byte_counts seen;
    model::result const r = model::explore(
        "bytes_tries", random(10000), body({.most = 2, .threads = {2, 2}, .tries = {1, 1}}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.refused, r.executions / 20);
}

TEST(byte_permits, every_order_is_needed) {
    auto mutants =
        model::weaken_each("bytes_weakened", random(base::k_thread_sanitizer ? 2000 : 10000),
                           body({.most = 2, .threads = {2}, .timed = {2}, .records = {2}}));
    EXPECT_GE(mutants.size(), 2U);
    // The outcome of a time-out is acquired for the sake of batches, of which there are none here.
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file == "waiter.hpp"; });
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

} // namespace
