// SPDX-License-Identifier: Apache-2.0
//
// Heaps of the memory managers beside a model that knows every grain: random sequences for each
// algorithm.
#include "gmem/heap.hpp"

#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using tulle::gmem::algorithm;
using tulle::gmem::extent;
using tulle::gmem::heap;
using tulle::gmem::k_grain;

constexpr std::uint64_t k_segments = 3;
constexpr std::uint64_t k_each = 100 * k_grain; // no power of two
constexpr std::uint64_t k_all = k_segments * k_each;

extent whole() { return {0, k_all}; }
extent segment(std::uint64_t s) { return {s * k_each, (s + 1) * k_each}; }

std::string name_of(algorithm a) {
    constexpr std::array names{"first_fit", "best_fit", "buddy", "round_robin"};
    return names.at(static_cast<std::size_t>(a));
}

// Which grains are taken.
class model {
public:
    [[nodiscard]] bool is_free(extent e) const {
        return std::none_of(m_taken.begin() + index(e.begin), m_taken.begin() + index(e.end),
                            [](bool taken) { return taken; });
    }
    void set(extent e, bool taken) {
        std::fill(m_taken.begin() + index(e.begin), m_taken.begin() + index(e.end), taken);
    }
    // Holes within `where`, in order.
    [[nodiscard]] std::vector<extent> holes(extent where) const {
        std::vector<extent> all;
        for (std::uint64_t at = where.begin; at < where.end; at += k_grain) {
            if (m_taken[at / k_grain]) continue;
            if (all.empty() || all.back().end != at) all.push_back({at, at});
            all.back().end = at + k_grain;
        }
        return all;
    }
    [[nodiscard]] std::optional<std::uint64_t> first_fit(std::uint64_t bytes, extent where) const {
        for (extent const& hole : holes(where))
            if (hole.size() >= bytes) return hole.begin;
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint64_t> best_fit(std::uint64_t bytes, extent where) const {
        auto const all = holes(where);
        extent const* best = nullptr;
        for (extent const& hole : all)
            if (hole.size() >= bytes && (best == nullptr || hole.size() < best->size()))
                best = &hole;
        return best != nullptr ? std::optional(best->begin) : std::nullopt;
    }

private:
    static std::ptrdiff_t index(std::uint64_t offset) {
        return static_cast<std::ptrdiff_t>(offset / k_grain);
    }
    std::vector<bool> m_taken = std::vector<bool>(k_all / k_grain);
};

class heap_test : public testing::TestWithParam<algorithm> {
protected:
    // What a buddy takes is a power of two.
    [[nodiscard]] static std::uint64_t taken_for(std::uint64_t bytes) {
        if (GetParam() != algorithm::buddy) return bytes;
        std::uint64_t size = k_grain;
        while (size < bytes) size *= 2;
        return size;
    }
    [[nodiscard]] bool is_what_it_must_be(std::optional<std::uint64_t> found, std::uint64_t bytes,
                                          extent where) const {
        switch (GetParam()) {
            case algorithm::first_fit: return found == m_model.first_fit(bytes, where);
            case algorithm::best_fit: return found == m_model.best_fit(bytes, where);
            case algorithm::round_robin:
                return found.has_value() == m_model.first_fit(bytes, where).has_value();
            // At one place.
            default: return !found || *found / k_each == (*found + taken_for(bytes) - 1) / k_each;
        }
    }
    void allocate(std::uint64_t bytes, extent where) {
        auto const found = m_heap.allocate(bytes, where);
        ASSERT_TRUE(is_what_it_must_be(found, bytes, where)) << bytes;
        if (!found) return;
        extent const got{*found, *found + taken_for(bytes)};
        ASSERT_TRUE(got.begin >= where.begin && got.end <= where.end) << got.begin;
        ASSERT_TRUE(m_model.is_free(got)) << got.begin;
        m_model.set(got, true);
        m_live[*found] = bytes;
        m_taken += got.size();
    }
    void release(std::map<std::uint64_t, std::uint64_t>::iterator which) {
        m_heap.release(which->first, which->second);
        m_model.set({which->first, which->first + taken_for(which->second)}, false);
        m_taken -= taken_for(which->second);
        m_live.erase(which);
    }

    heap m_heap{GetParam(), k_segments, k_each};
    model m_model;
    std::map<std::uint64_t, std::uint64_t> m_live; // bytes by offset
    std::uint64_t m_taken = 0;
};

INSTANTIATE_TEST_SUITE_P(algorithms, heap_test,
                         testing::Values(algorithm::first_fit, algorithm::best_fit,
                                         algorithm::buddy, algorithm::round_robin),
                         [](auto const& which) { return name_of(which.param); });

TEST_P(heap_test, random_sequences_do_what_the_model_says) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        tulle::base::rng random(seed);
        for (int step = 0; step < 400; ++step) {
            // Fills up, and empties, twice.
            bool const grows = random.below(100) < (step / 100 % 2 == 0 ? 70U : 30U);
            if (grows) {
                std::uint64_t const bytes =
                    (1 + random.below(random.below(8) == 0 ? 120 : 9)) * k_grain;
                allocate(bytes, random.below(4) == 0 ? segment(random.below(k_segments)) : whole());
            } else if (!m_live.empty()) {
                release(std::next(m_live.begin(),
                                  random.below(static_cast<std::uint32_t>(m_live.size()))));
            }
            ASSERT_EQ(m_heap.free_bytes() + m_taken, k_all) << "seed " << seed << " step " << step;
            if (HasFatalFailure()) return;
        }
        while (!m_live.empty()) release(m_live.begin());
    }
}

TEST_P(heap_test, all_that_was_freed_is_one_hole_again) {
    for (int round = 0; round < 3; ++round) {
        std::uint64_t const largest = GetParam() == algorithm::buddy ? 64 * k_grain : k_all;
        for (int k = 0; k < 290; ++k) allocate(k_grain, whole());
        while (!m_live.empty()) release(std::prev(m_live.end()));
        allocate(largest, whole());
        ASSERT_EQ(m_live.size(), 1U);
        release(m_live.begin());
    }
}

TEST_P(heap_test, takes_no_more_than_there_is) {
    EXPECT_FALSE(m_heap.allocate(k_all + k_grain, whole()));
    EXPECT_FALSE(m_heap.allocate(k_each + k_grain, segment(1)));
    for (std::uint64_t k = 0; k < k_all / k_grain; ++k)
        EXPECT_TRUE(m_heap.allocate(k_grain, whole()));
    EXPECT_FALSE(m_heap.allocate(k_grain, whole()));
    EXPECT_EQ(m_heap.free_bytes(), 0U);
}

TEST(round_robin_heap, goes_from_place_to_place) {
    heap of(algorithm::round_robin, k_segments, k_each);
    for (std::uint64_t k = 0; k < 12; ++k)
        EXPECT_EQ(*of.allocate(k_grain, whole()) / k_each, k % k_segments);
    EXPECT_TRUE(of.allocate(k_each - 4 * k_grain, segment(0)));
    EXPECT_EQ(*of.allocate(k_grain, whole()) / k_each, 1U); // the first one is full
}

TEST(round_robin_heap, what_is_larger_than_a_segment_spans_places) {
    heap of(algorithm::round_robin, k_segments, k_each);
    EXPECT_EQ(*of.allocate(2 * k_each, whole()), 0U);
    EXPECT_EQ(*of.allocate(k_grain, whole()), 2 * k_each);
}

} // namespace
