// SPDX-License-Identifier: Apache-2.0
#include "loopback_places.hpp"

#include <tulle/clock.hpp>
#include <tulle/place_local.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

// Cannot be read where it arrives.
struct unreadable_word {
    int word = 0;
};

} // namespace

template <> struct tulle::wire<unreadable_word> {
    static void put(wire_writer& to, unreadable_word const& value) {
        if (value.word < 0) throw std::domain_error("not written");
        to.put(value.word);
    }
    static unreadable_word get(wire_reader& /*from*/) { throw std::domain_error("not read"); }
};

namespace {

class clock_over_places : started, public testing::TestWithParam<std::uint64_t> {
protected:
    loopback_places m_places{3, {.seed = GetParam()}};
};

// Each in its phase; the places of this process share its memory.
TEST_P(clock_over_places, all_are_in_the_same_phase) {
    static std::atomic<int> s_arrived;
    s_arrived = 0;
    tulle::finish([](tulle::activities& all) {
        tulle::clock const c = tulle::clock::make();
        for (int k = 0; k < 6; ++k)
            c.async_at(all, tulle::place(k % 3), [](tulle::clock own) {
                for (int phase = 1; phase <= 10; ++phase) {
                    ++s_arrived;
                    EXPECT_EQ(own.advance(), static_cast<std::uint64_t>(phase));
                    EXPECT_GE(s_arrived, 6 * phase);
                }
            });
        for (int phase = 1; phase <= 3; ++phase) {
            c.advance();
            EXPECT_GE(s_arrived, 6 * phase);
            EXPECT_LE(s_arrived, 6 * (phase + 1));
        }
        c.drop(); // the others go on without this thread
    });
    EXPECT_EQ(s_arrived, 60);
}

TEST_P(clock_over_places, one_that_ends_or_throws_is_not_waited_for) {
    EXPECT_THROW(tulle::finish([](tulle::activities& all) {
                     tulle::clock const c = tulle::clock::make();
                     c.async_at(all, tulle::place(1),
                                [](tulle::clock) { throw std::domain_error("early"); });
                     c.async_at(
                         all, tulle::place(2),
                         [](tulle::clock own, int times) {
                             for (int k = 0; k < times; ++k) own.advance();
                         },
                         2);
                     for (int k = 0; k < 5; ++k) c.advance();
                     c.drop();
                 }),
                 std::domain_error);
}

// Neither what is not sent, nor what is not read, keeps the others waiting.
TEST_P(clock_over_places, one_that_cannot_be_started_is_not_waited_for) {
    for (int const word : {-1, 1})
        EXPECT_THROW(tulle::finish([word](tulle::activities& all) {
                         tulle::clock const c = tulle::clock::make();
                         c.async_at(all, tulle::place(2), [](tulle::clock own) { own.advance(); });
                         try {
                             c.async_at(
                                 all, tulle::place(1), [](tulle::clock, unreadable_word const&) {},
                                 unreadable_word{word});
                         } catch (...) {
                             c.advance();
                             c.drop();
                             throw;
                         }
                         for (int k = 0; k < 3; ++k) c.advance();
                         c.drop();
                     }),
                     std::domain_error);
}

// An activity that takes part drops by itself.
TEST_P(clock_over_places, one_that_drops_twice_is_told_by_the_finish) {
    for (int const where : {0, 1})
        EXPECT_THROW(tulle::finish([where](tulle::activities& all) {
                         tulle::clock const c = tulle::clock::make();
                         c.async_at(all, tulle::place(where), [](tulle::clock own) {
                             own.advance();
                             own.drop();
                         });
                         c.drop();
                     }),
                     std::logic_error);
}

TEST_P(clock_over_places, is_gone_when_all_have_dropped) {
    tulle::clock const c = tulle::clock::make();
    tulle::at(
        tulle::place(2), [](tulle::clock there) { EXPECT_EQ(there.advance(), 1U); }, c);
    c.drop();
    EXPECT_THROW(c.advance(), std::logic_error);
    EXPECT_THROW(c.drop(), std::logic_error);
    EXPECT_THROW(tulle::at(
                     tulle::place(1), [](tulle::clock there) { there.advance(); }, c),
                 std::logic_error);
}

// The activities of a place arrive together: a phase costs messages for each place, not for each of
// its activities.
class clock_messages : started, public testing::Test {
protected:
    // Of so many phases, of so many activities at each place.
    std::uint64_t of_phases(int phases, int activities) {
        std::uint64_t const before = m_places.network().sent();
        tulle::finish([&](tulle::activities& all) {
            tulle::clock const c = tulle::clock::make();
            for (int k = 0; k < 3 * activities; ++k)
                c.async_at(
                    all, tulle::place(k % 3),
                    [](tulle::clock own, int times) {
                        for (int left = times; left != 0; --left) own.advance();
                    },
                    phases);
            c.drop();
        });
        return m_places.network().sent() - before;
    }
    std::uint64_t of_a_phase(int activities) {
        return (of_phases(11, activities) - of_phases(1, activities)) / 10;
    }
    loopback_places m_places{3};
};

TEST_F(clock_messages, of_one_activity_at_each_place_are_a_call_each) {
    EXPECT_EQ(of_phases(11, 1) - of_phases(1, 1), 10U * 2 * 2);
}
TEST_F(clock_messages, do_not_grow_with_the_activities) {
    constexpr std::uint64_t k_few = 2 * 2 * 6; // six calls of each of the other places
    EXPECT_LE(of_a_phase(8), k_few);
    EXPECT_LE(of_a_phase(64), k_few) << "one by one they are 256";
}

// More of a place use the clock than take part: all go on, as many in each phase as it waits for.
TEST_P(clock_over_places, more_than_take_part_go_on_in_later_phases) {
    static std::atomic<std::uint64_t> s_phases;
    s_phases = 0;
    tulle::clock const c = tulle::clock::make();
    tulle::finish([&c](tulle::activities& all) {
        for (int k = 0; k < 12; ++k)
            all.async_at(
                tulle::place(k % 3), [](tulle::clock own) { s_phases += own.advance(); }, c);
    });
    EXPECT_EQ(s_phases, 12U * 13 / 2);
    c.drop();
}

INSTANTIATE_TEST_SUITE_P(seeds, clock_over_places, testing::Values(0U, 5U, 6U));

} // namespace
