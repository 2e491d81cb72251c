// SPDX-License-Identifier: Apache-2.0
// Memory of large payloads: blocks that are kept, payloads that are written where the receiver
// reads them, views of them there.
#include "loopback_places.hpp"
#include "messenger/payload_store.hpp"
#include "named_network.hpp"

#include <tulle.h>
#include <tulle/finish.hpp>
#include <tulle/place.hpp>
#include <tulle/team.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using tulle::messenger::kept_bytes;
using tulle::messenger::take_block;

// Nothing is kept while one lives, but what has been used since: it holds what others have left.
class empty_store {
public:
    empty_store() {
        for (std::size_t size = 20'000; size < 16'700'000; size *= 2)
            for (std::size_t kept = kept_bytes();; kept = kept_bytes()) {
                m_left.push_back(take_block(size));
                if (kept_bytes() == kept) break; // a new one
            }
        EXPECT_EQ(kept_bytes(), 0U);
    }

private:
    std::vector<tulle::detail::payload_bytes> m_left{};
};

TEST(payload_store, a_block_is_used_again) {
    empty_store const emptied;
    for (std::size_t const size : {20'000U, 100'000U, 1'000'000U, 16'000'000U}) {
        std::byte* where = nullptr;
        {
            auto const block = take_block(size);
            where = block.get();
            std::memset(where, 1, size);
        }
        std::size_t const kept = kept_bytes();
        EXPECT_GE(kept, size);
        auto const again = take_block(size - 1000);
        EXPECT_EQ(again.get(), where) << size;
        EXPECT_LT(kept_bytes(), kept);
    }
}

TEST(payload_store, two_at_a_time_are_two) {
    auto const one = take_block(70'000);
    auto const two = take_block(70'000);
    std::memset(one.get(), 1, 70'000);
    std::memset(two.get(), 2, 70'000);
    for (std::size_t k = 0; k < 70'000; ++k) ASSERT_EQ(one[k], std::byte{1}) << k;
}

TEST(payload_store, keeps_so_much_and_no_more) {
    empty_store const emptied;
    std::vector<tulle::detail::payload_bytes> all;
    for (int k = 0; k < 20; ++k) all.push_back(take_block(std::size_t{4} << 20U));
    all.clear();
    EXPECT_LE(kept_bytes(), tulle::messenger::k_most_kept_bytes);
    EXPECT_GT(kept_bytes(), tulle::messenger::k_most_kept_bytes / 2);
}

TEST(payload_store, what_is_small_or_huge_is_left_to_the_heap) {
    std::size_t const kept = kept_bytes();
    for (std::size_t const size : {0U, 1U, 5000U, 40U << 20U}) EXPECT_NE(take_block(size), nullptr);
    EXPECT_EQ(kept_bytes(), kept);
}

// --- views ---------------------------------------------------------------------------------------

class payloads : started, public testing::TestWithParam<named_network> {
protected:
    // None is on its way any more. A payload that nobody gives back: for ever.
    void wait_until_all_are_given_back() const {
        while (m_staged != 0) tulle::this_thread::yield();
    }
    std::atomic<int> m_staged{0};
    loopback_places m_places{3, GetParam().options, {.refused = {.staged = &m_staged}}};
    tulle::place m_there{2};
};

INSTANTIATE_TEST_SUITE_P(
    networks, payloads,
    testing::Values(
        named_network{"readable", {}},
        named_network{"unreadable", {.seed = 5, .most_bytes = 600, .allows_read = false}},
        named_network{
            "staged",
            {.seed = 9, .most_bytes = 512, .allows_read = false, .staging_bytes = 1 << 20}}),
    network_name);

struct sum_and_place {
    double sum;
    std::uint64_t misplaced; // bytes
};

sum_and_place look_at(tulle::view<double> all) {
    return {std::accumulate(all.begin(), all.end(), 0.0),
            reinterpret_cast<std::uintptr_t>(all.data()) % alignof(double)};
}

std::vector<double> numbers(std::size_t count) {
    std::vector<double> all(count);
    std::iota(all.begin(), all.end(), 1.0);
    return all;
}

// The sender finds out, after it has made the message, that it cannot be sent.
TEST_P(payloads, what_is_not_sent_after_all_is_as_it_was) {
    std::vector<double> const sent = numbers(10'000);
    tulle::messenger::endpoint& here = m_places.endpoint(0);
    tulle::wire_writer out(m_there.index());
    out.put(sent);
    std::size_t const size = out.size();
    std::vector<std::byte> const before(out.data(), out.data() + size);
    for (int turn = 0; turn != 2; ++turn) {
        tulle::messenger::message_tag tag{tulle::messenger::message_kind::call};
        auto const enclosed = here.enclose(2, tag, out);
        here.take_out(2, tag, enclosed, out);
        ASSERT_EQ(out.size(), size);
        EXPECT_EQ(std::memcmp(out.data(), before.data(), size), 0);
    }
}

// The sender finds out that the receiver has died, which this place has heard of meanwhile.
TEST_P(payloads, what_is_not_sent_to_a_dead_place_is_as_it_was) {
    loopback_places places{3, GetParam().options, {.survives = true}};
    tulle::messenger::endpoint& here = places.endpoint(0);
    tulle::wire_writer out(m_there.index());
    out.put(numbers(10'000));
    std::vector<std::byte> const before(out.data(), out.data() + out.size());
    tulle::messenger::message_tag tag{tulle::messenger::message_kind::call};
    auto const enclosed = here.enclose(2, tag, out);
    places.network().kill(2, SIGKILL);
    while (!here.is_dead(2)) tulle::this_thread::yield();
    tulle::at(tulle::place(1), [] {}); // all of the death has been seen to
    here.take_out(2, tag, enclosed, out);
    ASSERT_EQ(out.size(), before.size());
    EXPECT_EQ(std::memcmp(out.data(), before.data(), before.size()), 0);
}

TEST_P(payloads, a_view_shows_what_was_sent) {
    for (std::size_t const count : {0U, 1U, 13U, 50U, 100U, 600U, 5000U, 100'000U}) {
        std::vector<double> const sent = numbers(count);
        std::string const before(count % 7, 'x'); // so that alignment is not by chance
        auto const seen = tulle::at(
            m_there,
            [](std::string const&, tulle::view<double> got, char last) {
                return std::pair(look_at(got), last);
            },
            before, tulle::view(sent), 'z');
        EXPECT_EQ(seen.first.sum, static_cast<double>(count) * static_cast<double>(count + 1) / 2)
            << count;
        EXPECT_EQ(seen.first.misplaced, 0U) << count;
        EXPECT_EQ(seen.second, 'z') << count;
    }
}

TEST_P(payloads, a_view_in_an_activity_here_and_there) {
    std::vector<double> const sent = numbers(3000);
    static std::atomic<int> s_right;
    s_right = 0;
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places())
            all.async_at(
                p, [](tulle::view<double> got) { s_right += look_at(got).sum == 4501500.0; },
                tulle::view(sent));
    });
    EXPECT_EQ(s_right, 3);
}

TEST(payloads_of_one_place, a_view_in_an_activity_that_may_run_anywhere) {
    tulle::initialize({.workers = 2});
    for (std::size_t const count : {3U, 3000U}) {
        static std::atomic<double> s_sum;
        s_sum = 0;
        std::vector<double> const sent = numbers(count);
        tulle::finish([&](tulle::activities& all) {
            all.async_any(
                [](tulle::view<double> got) {
                    s_sum = look_at(got).misplaced == 0 ? look_at(got).sum : -1;
                },
                tulle::view(sent));
        });
        EXPECT_EQ(s_sum, static_cast<double>(count * (count + 1)) / 2);
    }
    tulle::finalize();
}

TEST_P(payloads, a_view_of_part_of_an_array) {
    double const sent[]{1, 2, 4, 8, 16};
    EXPECT_EQ(tulle::at(
                  m_there,
                  [](tulle::view<double> got) {
                      return got.size() == 2 && got[0] == 2 && got[1] == 4 && !got.empty();
                  },
                  tulle::view(sent + 1, 2)),
              true);
    EXPECT_EQ(tulle::at(
                  m_there, [](tulle::view<double> got) { return got.size(); }, tulle::view(sent)),
              5U);
}

void sum_bytes(void const* argument, std::size_t size, void* result, std::size_t /*result_size*/) {
    auto const* const first = static_cast<unsigned char const*>(argument);
    std::uint64_t const sum = std::accumulate(first, first + size, std::uint64_t{0}) +
                              (reinterpret_cast<std::uintptr_t>(argument) % 16 << 32U);
    std::memcpy(result, &sum, sizeof sum);
}

TEST_P(payloads, c_functions_get_bytes_that_are_aligned_for_any_object) {
    for (std::size_t const size : {0U, 1U, 100U, 700U, 70'000U}) {
        std::vector<unsigned char> const sent(size, 2);
        std::uint64_t sum = 0;
        ASSERT_EQ(tulle_call_at(2, &sum_bytes, sent.data(), size, &sum, sizeof sum), 0);
        EXPECT_EQ(sum, 2 * size);
    }
}

// --- staging -------------------------------------------------------------------------------------

struct fails_after_its_load {
    std::vector<std::uint8_t> load;
};

} // namespace

template <> struct tulle::wire<fails_after_its_load> {
    static void put(wire_writer& to, fails_after_its_load const& value) {
        to.put(value.load);
        throw std::domain_error("not written");
    }
    static fails_after_its_load get(wire_reader& from) {
        return {from.get<std::vector<std::uint8_t>>()};
    }
};

namespace {

TEST_P(payloads, all_are_given_back) {
    std::vector<std::uint8_t> const load(20'000, 1);
    for (int k = 0; k < 100; ++k) {
        EXPECT_EQ(tulle::at(
                      m_there, [](std::vector<std::uint8_t> got) { return got; }, load),
                  load);
        EXPECT_THROW(tulle::at(
                         m_there, [](fails_after_its_load const&) {}, fails_after_its_load{load}),
                     std::domain_error);
        EXPECT_THROW(
            tulle::at(m_there,
                      [] { return fails_after_its_load{std::vector<std::uint8_t>(20'000)}; }),
            std::domain_error);
        tulle::finish([&](tulle::activities& all) {
            all.async_at(
                m_there, [](std::vector<std::uint8_t> const&) {}, load);
            EXPECT_THROW(
                all.async_at(
                    m_there, [](fails_after_its_load const&) {}, fails_after_its_load{load}),
                std::domain_error);
        });
    }
    wait_until_all_are_given_back();
}

// More at a time than there is room for where the receiver reads them.
TEST_P(payloads, what_finds_no_room_goes_another_way) {
    std::vector<std::uint32_t> load(100'000);
    std::iota(load.begin(), load.end(), 1U);
    static std::atomic<int> s_right;
    s_right = 0;
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 20; ++k)
            all.async_at(
                m_there,
                [](std::vector<std::uint32_t> const& got) {
                    s_right += got.size() == 100'000 && got.back() == 100'000;
                },
                load);
    });
    EXPECT_EQ(s_right, 20);
    wait_until_all_are_given_back();
}

} // namespace
