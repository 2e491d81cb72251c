// SPDX-License-Identifier: Apache-2.0
//
// What another place than home has of a finish while an activity lives there.
#include "finish/finish_scope.hpp"
#include "loopback_places.hpp"

#include <tulle/finish.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>

namespace {

std::atomic<std::uint64_t> epoch_of_last_part{0};

void note_epoch() {
    auto const* const part =
        static_cast<tulle::finishes::finish_part*>(tulle::detail::current_finish_scope());
    epoch_of_last_part.store(part->share.epoch());
}

class part_of_finish : started, public testing::Test {
    loopback_places m_places{2};
};

// A message that is late is told from those of a later part by the number of its epoch, whichever
// memory a part lies in.
TEST_F(part_of_finish, has_an_epoch_that_no_part_had_before) {
    constexpr std::size_t k_finishes = 40;
    std::set<std::uint64_t> seen;
    for (std::size_t n = 0; n != k_finishes; ++n) {
        tulle::finish(
            [](tulle::activities& all) { all.async_at(tulle::place(1), [] { note_epoch(); }); });
        seen.insert(epoch_of_last_part.load());
    }
    EXPECT_EQ(seen.size(), k_finishes);
    EXPECT_FALSE(seen.contains(0)); // home's
}

} // namespace
