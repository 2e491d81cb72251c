// SPDX-License-Identifier: Apache-2.0
//
// Who waits while a place calls another one: the caller, and the thread that runs the call if its
// body waits; nobody else, whatever way arguments and results take. Messages are handled by who
// polls, without a thread.
#include "base/sanitize.hpp"
#include "loopback_places.hpp"
#include "named_network.hpp"
#include "sched/watch/census.hpp"

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

class blocking_call : started, public testing::TestWithParam<loaded_network> {
protected:
    loopback_places m_places{2, GetParam().options};
};

INSTANTIATE_TEST_SUITE_P(
    networks, blocking_call,
    testing::Values(loaded_network{{"in_the_message"}, 16}, loaded_network{{"read"}, 50'000},
                    loaded_network{{"staged", {.allows_read = false, .staging_bytes = 262'144}},
                                   50'000},
                    loaded_network{{"in_pieces", {.allows_read = false}}, 50'000}),
    network_name);

// The body waits until this thread, which is none of Tulle's workers, has counted.
TEST_P(blocking_call, two_threads_wait_at_most) {
    if (tulle::base::k_thread_sanitizer)
        GTEST_SKIP() << "a census looks at threads that run, without any order";
    static tulle::latch* s_counted;
    tulle::latch counted(1);
    s_counted = &counted;
    auto* const from = &m_places.endpoint(0);
    auto caller = tulle::spawn([from, size = GetParam().load] {
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
    EXPECT_EQ(caller.join(), GetParam().load);
}

} // namespace
