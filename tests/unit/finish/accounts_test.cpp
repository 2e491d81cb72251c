// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that leave activities at other places and do not fit into a message: they arrive as
// with at().
#include "loopback_places.hpp"
#include "named_network.hpp"

#include <tulle/c/activity.h>
#include <tulle/cancellation.hpp>
#include <tulle/finish.hpp>
#include <tulle/place.hpp>
#include <tulle/this_thread.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

constexpr std::size_t k_long = 100'000;

class large_exceptions : started, public testing::TestWithParam<named_network> {
    loopback_places m_places{3, GetParam().options};
};
INSTANTIATE_TEST_SUITE_P(networks, large_exceptions, unlike_networks(), network_name);

void throw_number() {
    throw std::system_error(ENOSPC, std::generic_category(), std::string(k_long, 'y'));
}

TEST_P(large_exceptions, keep_number_and_text) {
    try {
        tulle::finish(
            [](tulle::activities& all) { all.async_at(tulle::place(1), [] { throw_number(); }); });
        ADD_FAILURE() << "nothing is thrown";
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), std::error_code(ENOSPC, std::generic_category()));
        EXPECT_EQ(std::string(e.what()).substr(0, k_long), std::string(k_long, 'y'));
    }
}

void throw_list() {
    tulle::finish([](tulle::activities& inner) {
        for (int k = 0; k < 300; ++k)
            inner.async([] { throw std::invalid_argument(std::string(40, 'x')); });
    });
}

TEST_P(large_exceptions, are_lists_of_what_was_thrown) {
    try {
        tulle::finish(
            [](tulle::activities& all) { all.async_at(tulle::place(2), [] { throw_list(); }); });
        ADD_FAILURE() << "nothing is thrown";
    } catch (tulle::exception_list const& list) {
        ASSERT_EQ(list.all().size(), 300U);
        for (auto const& one : list.all())
            EXPECT_THROW(std::rethrow_exception(one), std::invalid_argument);
    }
}

// As many as there are, each counted once.
TEST_P(large_exceptions, of_many_activities_all_arrive) {
    try {
        tulle::finish([](tulle::activities& all) {
            for (int k = 0; k < 30; ++k)
                all.async_at(tulle::place(1 + k % 2), [] { throw_number(); });
        });
        ADD_FAILURE() << "nothing is thrown";
    } catch (tulle::exception_list const& list) {
        EXPECT_EQ(list.all().size(), 30U);
    }
}

TEST_P(large_exceptions, cancel_a_finish_with_a_limit) {
    using namespace std::chrono_literals;
    EXPECT_THROW(
        static_cast<void>(tulle::finish(tulle::wait_limit(100s),
                                        [](tulle::activities& all) {
                                            all.async_at(tulle::place(1), [] { throw_number(); });
                                            all.async_at(tulle::place(2), [] {
                                                while (!tulle::this_activity::stop_requested())
                                                    tulle::this_thread::yield();
                                            });
                                        })),
        std::system_error);
}

} // namespace
