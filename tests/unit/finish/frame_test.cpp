// SPDX-License-Identifier: Apache-2.0
//
// A finish lies in the frame of the thread that waits for it: nothing writes there once the wait is
// over, whatever activities, messages, cancellations and deaths of places it had
// (src/finish/README.md, "Who touches it last").
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/finish.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>

namespace {

using tulle::activities;
using tulle::place;
namespace self = tulle::this_activity;
using frame_type = tulle::detail::finish_frame;

constexpr std::byte k_mark{0xA5};
constexpr int k_rounds = 200;

// A frame of which can be seen what is written after its end.
class watched_frame {
public:
    template <class F> void run(tulle::detail::limit const* until, F body) {
        auto* const frame = ::new (m_bytes.data()) frame_type(until);
        try {
            tulle::detail::run_finish(*frame, body);
        } catch (std::runtime_error const&) { // of activities, and of places that have died
            m_has_thrown = true;
        }
        std::destroy_at(frame);
        m_bytes.fill(k_mark);
    }
    [[nodiscard]] bool is_untouched() const {
        return std::all_of(m_bytes.begin(), m_bytes.end(), [](std::byte b) { return b == k_mark; });
    }
    [[nodiscard]] bool has_thrown() const { return m_has_thrown; }

private:
    alignas(frame_type) std::array<std::byte, sizeof(frame_type)> m_bytes{};
    bool m_has_thrown = false;
};

void let_others_run() {
    for (int k = 0; k < 20; ++k) tulle::this_thread::yield();
}

template <class F> void expect_untouched(bool can_be_cancelled, F body) {
    tulle::detail::limit const never = tulle::wait_limit(tulle::cancellation_token()).get();
    watched_frame frame;
    for (int k = 0; k < k_rounds; ++k) {
        frame.run(can_be_cancelled ? &never : nullptr, body);
        let_others_run();
        ASSERT_TRUE(frame.is_untouched()) << "after " << k;
    }
}

void spread() {
    for (place const p : tulle::places())
        self::async_at(p, [] { self::async_at(place(1), [] { self::async([] {}); }); });
}

template <int Survives>
class framed_finish_of : started, public testing::TestWithParam<named_network> {
protected:
    loopback_places m_places{3, GetParam().options, {.survives = Survives != 0}};
};
using framed_finish = framed_finish_of<0>;
using framed_finish_and_deaths = framed_finish_of<1>;

INSTANTIATE_TEST_SUITE_P(networks, framed_finish, unlike_networks(), network_name);
INSTANTIATE_TEST_SUITE_P(networks, framed_finish_and_deaths, unlike_networks(), network_name);

TEST_P(framed_finish, of_activities_here) {
    expect_untouched(false, [](activities& all) {
        for (int k = 0; k < 4; ++k) all.async([] { self::async([] {}); });
    });
}
TEST_P(framed_finish, of_activities_at_all_places) {
    expect_untouched(false, [] { spread(); });
}
TEST_P(framed_finish, of_exceptions) {
    expect_untouched(false, [](activities& all) {
        all.async_at(place(1), [] { throw std::runtime_error("there"); });
        all.async([] { throw std::runtime_error("here"); });
    });
}
TEST_P(framed_finish, that_is_cancelled) {
    expect_untouched(true, [](activities& all) {
        spread();
        all.request_stop();
    });
}
TEST_P(framed_finish, that_could_be_cancelled) {
    expect_untouched(true, [] { spread(); });
}
TEST_P(framed_finish_and_deaths, while_a_place_dies) {
    watched_frame frame;
    for (int k = 0; k < k_rounds; ++k) {
        frame.run(nullptr, [&, this](activities& all) {
            spread();
            if (k == k_rounds / 2) m_places.network().kill(2, SIGKILL);
            all.async_at(place(1), [] {});
        });
        let_others_run();
        ASSERT_TRUE(frame.is_untouched()) << "after " << k;
    }
    EXPECT_TRUE(frame.has_thrown());
}

} // namespace
