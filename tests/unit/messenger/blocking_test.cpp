// SPDX-License-Identifier: Apache-2.0
//
// Who waits while a place calls another one: the caller, and the thread that runs the call if its
// body waits; nobody else, whatever way arguments and results take. Messages are handled by who
// polls, without a thread.
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "sched/census.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace {

using tulle::sched::thread_view;
using tulle::wait::wait_kind;

struct waiting_threads {
    int at_latch = 0, elsewhere = 0;

    [[nodiscard]] static waiting_threads now() {
        waiting_threads seen;
        tulle::sched::census(tulle::sched::scheduler::instance())
            .visit(
                [](void* to, thread_view const& one) noexcept {
                    auto& all = *static_cast<waiting_threads*>(to);
                    if (one.waits.kind == wait_kind::latch)
                        ++all.at_latch;
                    else if (one.waits.kind != wait_kind::nothing)
                        ++all.elsewhere;
                },
                &seen);
        return seen;
    }
};

struct way {
    char const* name;
    tulle::net::loopback_options network;
    std::size_t size; // of argument and result
};

void PrintTo(way const& w, std::ostream* to) { *to << w.name; }

class blocking_call : started, public testing::TestWithParam<way> {
protected:
    loopback_places m_places{2, GetParam().network};
};

INSTANTIATE_TEST_SUITE_P(
    ways, blocking_call,
    testing::Values(way{"in_the_message", {}, 16}, way{"read", {}, 50'000},
                    way{"staged", {.allows_read = false, .staging_bytes = 262'144}, 50'000},
                    way{"in_pieces", {.allows_read = false}, 50'000}),
    [](auto const& which) { return std::string(which.param.name); });

// The body waits until this thread, which is none of Tulle's workers, has counted.
TEST_P(blocking_call, two_threads_wait_at_most) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "a census looks at threads that run, without any order";
    static tulle::latch* s_counted;
    tulle::latch counted(1);
    s_counted = &counted;
    auto* const from = &m_places.endpoint(0);
    auto caller = tulle::spawn([from, size = GetParam().size] {
        tulle::messenger::place_context here{from, nullptr};
        tulle::messenger::scoped_context const stands(here);
        auto const echo = [](std::vector<std::uint8_t> bytes) {
            s_counted->wait();
            return bytes;
        };
        return tulle::at(tulle::place(1), echo, std::vector<std::uint8_t>(size, 3)).size();
    });
    waiting_threads seen;
    while (seen.at_latch != 1) {
        seen = waiting_threads::now();
        ASSERT_LE(seen.at_latch + seen.elsewhere, 2);
        std::this_thread::yield();
    }
    EXPECT_EQ(seen.elsewhere, 1); // the caller
    counted.count_down();
    EXPECT_EQ(caller.join(), GetParam().size);
}

} // namespace
