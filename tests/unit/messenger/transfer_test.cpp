// SPDX-License-Identifier: Apache-2.0
//
// The C interface of places: i-lets, signals of other places, push and pull, over virtual networks
// of this process.
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle.h>
#include <tulle/runtime.hpp>
#include <tulle/signal.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace {

class transfer_test : public testing::TestWithParam<named_network> {
protected:
    void SetUp() override {
        tulle::initialize({.workers = 2});
        m_places.emplace(3, GetParam().options);
    }
    void TearDown() override {
        m_places.reset();
        tulle::finalize();
    }
    std::optional<loopback_places> m_places;
};

INSTANTIATE_TEST_SUITE_P(
    networks, transfer_test,
    testing::Values(named_network{"in_order"}, named_network{"out_of_order", {.seed = 9}},
                    named_network{"unreadable",
                                  {.seed = 4, .most_bytes = 512, .allows_read = false}}),
    network_name);

std::uint64_t word_of(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
template <class T> T& object_of(std::uint64_t word) {
    return *reinterpret_cast<T*>(word);
} // NOLINT(performance-no-int-to-ptr)

struct record {
    tulle_signal_t done;
    std::atomic<int> place{-1};
    std::atomic<std::uint64_t> b{0};
};

void note(std::uint64_t where, std::uint64_t b) {
    auto& r = object_of<record>(where);
    r.place = tulle_here();
    r.b = b;
    EXPECT_EQ(tulle_signal_notify_at(0, &r.done), 0);
}

TEST_P(transfer_test, an_ilet_runs_there_with_its_words) {
    EXPECT_EQ(tulle_place_count(), 3);
    for (int place = 0; place < 3; ++place) {
        record r;
        ASSERT_EQ(tulle_signal_init(&r.done, 1), 0);
        auto const before = m_places->network().sent();
        ASSERT_EQ(tulle_start_at(place, {&note, word_of(&r), 99}), 0);
        ASSERT_EQ(tulle_signal_wait(&r.done), 0);
        EXPECT_EQ(r.place.load(), place);
        EXPECT_EQ(r.b.load(), 99U);
        // The ilet, and the signal home.
        EXPECT_EQ(m_places->network().sent() - before, place == 0 ? 0U : 2U);
    }
}

struct transfer {
    std::vector<std::uint8_t> from, to;
    tulle_signal_t done;
    std::atomic<int> ended_at{-1};
    std::atomic<bool> was_there{false};
};

void when_sent(std::uint64_t where, std::uint64_t /*unused*/) {
    auto& t = object_of<transfer>(where);
    t.ended_at = tulle_here();
    EXPECT_EQ(tulle_signal_notify(&t.done), 0);
}
void when_arrived(std::uint64_t where, std::uint64_t expected_place) {
    auto& t = object_of<transfer>(where);
    EXPECT_EQ(tulle_here(), static_cast<int>(expected_place));
    t.was_there = t.to == t.from;
    EXPECT_EQ(tulle_signal_notify_at(0, &t.done), 0);
}

TEST_P(transfer_test, push_tells_both_sides) {
    for (int place = 0; place < 3; ++place) {
        for (std::size_t const size : {0U, 1U, 100U, 511U, 4000U, 4096U, 5000U, 300'000U}) {
            transfer t{std::vector<std::uint8_t>(size), std::vector<std::uint8_t>(size), {}};
            std::iota(t.from.begin(), t.from.end(), std::uint8_t{1});
            ASSERT_EQ(tulle_signal_init(&t.done, 2), 0);
            tulle_ilet_t const here{&when_sent, word_of(&t), 0};
            tulle_ilet_t const there{&when_arrived, word_of(&t), static_cast<std::uint64_t>(place)};
            ASSERT_EQ(tulle_push(place, t.to.data(), t.from.data(), size, &here, &there), 0);
            ASSERT_EQ(tulle_signal_wait(&t.done), 0);
            EXPECT_TRUE(t.was_there) << size;
            EXPECT_EQ(t.ended_at.load(), 0) << size;
        }
    }
}

TEST_P(transfer_test, push_with_one_side_only) {
    transfer t{std::vector<std::uint8_t>(9000, 7), std::vector<std::uint8_t>(9000), {}};
    tulle_ilet_t const here{&when_sent, word_of(&t), 0};
    tulle_ilet_t const there{&when_arrived, word_of(&t), 1};
    ASSERT_EQ(tulle_signal_init(&t.done, 1), 0);
    ASSERT_EQ(tulle_push(1, t.to.data(), t.from.data(), 9000, &here, nullptr), 0);
    ASSERT_EQ(tulle_signal_wait(&t.done), 0);
    EXPECT_EQ(t.to, t.from);
    t.to.assign(9000, 0);
    ASSERT_EQ(tulle_signal_add_signalers(&t.done, 1), 0);
    ASSERT_EQ(tulle_push(1, t.to.data(), t.from.data(), 9000, nullptr, &there), 0);
    ASSERT_EQ(tulle_signal_wait(&t.done), 0);
    EXPECT_TRUE(t.was_there);
}

TEST_P(transfer_test, pull_copies_from_there) {
    for (int place = 0; place < 3; ++place) {
        for (std::size_t const size : {0U, 1U, 4096U, 100'000U}) {
            std::vector<std::uint8_t> from(size);
            std::iota(from.begin(), from.end(), std::uint8_t{5});
            std::vector<std::uint8_t> to(size);
            ASSERT_EQ(tulle_pull(to.data(), place, from.data(), size), 0);
            EXPECT_EQ(to, from);
        }
    }
}

TEST_P(transfer_test, what_makes_no_sense_is_refused) {
    tulle_signal_t signal;
    ASSERT_EQ(tulle_signal_init(&signal, 1), 0);
    char byte = 0;
    EXPECT_EQ(tulle_start_at(3, {&note, 0, 0}), -EINVAL);
    EXPECT_EQ(tulle_start_at(-1, {&note, 0, 0}), -EINVAL);
    EXPECT_EQ(tulle_start_at(1, {nullptr, 0, 0}), -EINVAL);
    auto const nowhere =
        reinterpret_cast<void (*)(std::uint64_t, std::uint64_t)>(std::uintptr_t{64});
    EXPECT_EQ(tulle_start_at(1, {nowhere, 0, 0}), -ENOENT);
    EXPECT_EQ(tulle_signal_notify_at(9, &signal), -EINVAL);
    EXPECT_EQ(tulle_signal_notify_at(1, nullptr), -EINVAL);
    EXPECT_EQ(tulle_push(7, &byte, &byte, 1, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(tulle_push(1, nullptr, &byte, 1, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(tulle_push(1, &byte, nullptr, 1, nullptr, nullptr), -EINVAL);
    for (std::size_t const too_large : {SIZE_MAX, SIZE_MAX - 20, SIZE_MAX / 2 + 1}) {
        EXPECT_EQ(tulle_push(1, &byte, &byte, too_large, nullptr, nullptr), -EINVAL);
        EXPECT_EQ(tulle_pull(&byte, 1, &byte, too_large), -EINVAL);
        EXPECT_EQ(tulle_pull(&byte, 0, &byte, too_large), -EINVAL);
    }
    tulle_ilet_t const unknown{nowhere, 0, 0};
    EXPECT_EQ(tulle_push(1, &byte, &byte, 1, &unknown, nullptr), -ENOENT);
    EXPECT_EQ(tulle_push(1, &byte, &byte, 1, nullptr, &unknown), -ENOENT);
    EXPECT_EQ(tulle_pull(nullptr, 1, &byte, 1), -EINVAL);
    EXPECT_EQ(tulle_pull(&byte, 1, nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_pull(&byte, 5, &byte, 1), -EINVAL);
}

} // namespace
