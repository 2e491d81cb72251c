// SPDX-License-Identifier: Apache-2.0
#include "loopback_places.hpp"

#include <tulle/place_local.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class place_local_test : started, public testing::Test {};

TEST_F(place_local_test, each_place_has_its_own) {
    loopback_places const four(4);
    auto const own = tulle::place_local<std::vector<int>>::make(
        [](int n) { return std::vector<int>(static_cast<std::size_t>(n), tulle::here().index()); },
        3);
    for (tulle::place const p : tulle::places())
        EXPECT_EQ(tulle::at(
                      p, [](auto there) { return *there; }, own),
                  std::vector<int>(3, p.index()));
    tulle::at(
        tulle::place(2), [](auto there) { there->push_back(7); }, own);
    EXPECT_EQ(own->size(), 3U);
    EXPECT_EQ(tulle::at(
                  tulle::place(2), [](auto there) { return there->size(); }, own),
              4U);
}

// Such as one with a mutex.
struct shard {
    explicit shard(long first) : sum(first), self(this) {}
    shard(shard const&) = delete;
    shard& operator=(shard const&) = delete;

    tulle::mutex lock;
    long sum;
    shard* self;
};
TEST_F(place_local_test, of_a_type_that_can_neither_be_copied_nor_moved) {
    loopback_places const two(2);
    auto const own = tulle::place_local<shard>::make(
        [](long first) { return shard(first + tulle::here().index()); }, 10L);
    for (tulle::place const p : tulle::places())
        EXPECT_EQ(tulle::at(
                      p,
                      [](auto there) {
                          std::lock_guard const held(there->lock);
                          return there->self == &*there ? ++there->sum : 0;
                      },
                      own),
                  11 + p.index());
    own.destroy();
}

TEST_F(place_local_test, of_what_is_converted_and_of_what_a_reference_names) {
    static std::vector<int> const s_given{1, 2, 3};
    auto const copied = tulle::place_local<std::vector<int>>::make(
        []() -> std::vector<int> const& { return s_given; });
    auto const converted = tulle::place_local<std::string>::make([] { return "text"; });
    EXPECT_EQ(*copied, s_given);
    EXPECT_EQ(*converted, "text");
    copied.destroy();
    converted.destroy();
}

TEST_F(place_local_test, is_gone_after_destroy) {
    loopback_places const two(2);
    auto const own = tulle::place_local<int>::make([] { return 1; });
    auto const other = tulle::place_local<int>::make([] { return 2; });
    own.destroy();
    EXPECT_THROW(static_cast<void>(*own), std::logic_error);
    EXPECT_THROW(tulle::at(
                     tulle::place(1), [](auto there) { return *there; }, own),
                 std::logic_error);
    EXPECT_EQ(tulle::at(
                  tulle::place(1), [](auto there) { return *there; }, other),
              2);
}

TEST_F(place_local_test, is_made_everywhere_or_nowhere) {
    loopback_places const three(3);
    auto const made_but_at_1 = [](int unlucky) {
        if (tulle::here().index() == unlucky) throw std::domain_error("not here");
        return std::make_shared<int>(5);
    };
    EXPECT_THROW(
        static_cast<void>(tulle::place_local<std::shared_ptr<int>>::make(made_but_at_1, 1)),
        std::domain_error);
}

TEST_F(place_local_test, works_without_other_places) {
    auto const own = tulle::place_local<int>::make([](int value) { return value; }, 9);
    EXPECT_EQ(*own, 9);
    own.destroy();
    EXPECT_THROW(static_cast<void>(*own), std::logic_error);
}

} // namespace
