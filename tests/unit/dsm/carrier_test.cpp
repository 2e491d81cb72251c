// SPDX-License-Identifier: Apache-2.0
// Who needs another host when the run time has ended is told so, rather than to wait for ever.
#include "dsm/carrier.hpp"
#include "forked_child.hpp"
#include "loopback_places.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::dsm {
namespace {

class carrier_of_places : started, public testing::Test {
protected:
    static constexpr char const* k_message = "coherent memory: used after the run time has ended";

    void end() { m_places.endpoint(0).tell_end(true); }
    void ask() { m_carrier.ask(1, m_request.data(), m_request.size(), nullptr, 0); }

    loopback_places m_places{2};
    carrier m_carrier{m_places.endpoint(0), {1}};
    std::array<std::byte, 16> m_request{};
    std::atomic<std::uint32_t> m_to_come{0};
};

TEST_F(carrier_of_places, waits_for_nothing_when_nothing_is_asked) {
    m_carrier.wait();
    end();
    m_carrier.wait(); // so may an acquire that has heard of hosts of this machine only
}

TEST_F(carrier_of_places, asks_nobody_after_the_end) {
    if (!k_may_fork_beside_threads) GTEST_SKIP() << "each death takes a process";
    end();
    EXPECT_DEATH(ask(), k_message);
    EXPECT_DEATH(m_carrier.ask_beside(
                     [](far_hosts& others, void*) noexcept {
                         std::array<std::byte, 16> const request{};
                         others.ask(1, request.data(), request.size(), nullptr, 0);
                     },
                     nullptr, m_to_come),
                 k_message);
    EXPECT_DEATH(m_carrier.let_others_run(), k_message); // until something has come
}

// Threads of this host still take turns.
TEST_F(carrier_of_places, lets_other_threads_go_on_after_the_end) {
    end();
    for (int turn = 0; turn < 3; ++turn) m_carrier.pause();
}

} // namespace
} // namespace tulle::dsm
