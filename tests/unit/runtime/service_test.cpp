// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <cerrno>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tulle::runtime::launch;
using tulle::runtime::service;
using tulle::runtime::start_all;
using tulle::runtime::start_result;
using tulle::runtime::stop_all;

std::string s_steps;

template <char name> int start(launch const&) {
    s_steps += name;
    return 0;
}
template <char name> void stop(launch const&) noexcept { (s_steps += '-') += name; }
int refuse(launch const&) { return EAGAIN; }
int run_out_of_memory(launch const&) { throw std::bad_alloc(); }

constexpr service k_first{"the first", &start<'a'>, &stop<'a'>};
constexpr service k_without_stop{"the second", &start<'b'>, nullptr};
constexpr service k_third{"the third", &start<'c'>, &stop<'c'>};

class service_test : public testing::Test {
protected:
    void SetUp() override { s_steps.clear(); }

    [[nodiscard]] launch with() { return {m_options, m_chosen, m_cpus}; }

private:
    tulle::base::option_table m_options;
    tulle::sched::settings m_chosen;
    tulle::runtime::cpu_share m_cpus;
};

TEST_F(service_test, services_start_in_order_and_stop_in_reverse) {
    std::vector const list{k_first, k_without_stop, k_third};
    start_result const result = start_all(list, with());
    EXPECT_EQ(result.error, 0);
    EXPECT_EQ(result.failed, nullptr);
    EXPECT_EQ(s_steps, "abc");
    stop_all(list, with());
    EXPECT_EQ(s_steps, "abc-c-a");
}

TEST_F(service_test, a_service_that_fails_stops_those_before_it_and_is_named) {
    std::vector const list{k_first, k_without_stop, service{"what fails", &refuse, &stop<'x'>},
                           k_third};
    start_result const result = start_all(list, with());
    EXPECT_EQ(result.error, EAGAIN);
    EXPECT_STREQ(result.failed, "what fails");
    EXPECT_EQ(s_steps, "ab-a");
}

TEST_F(service_test, a_service_without_memory_fails_likewise) {
    std::vector const list{k_first, service{"what needs memory", &run_out_of_memory, nullptr}};
    start_result const result = start_all(list, with());
    EXPECT_EQ(result.error, ENOMEM);
    EXPECT_STREQ(result.failed, "what needs memory");
    EXPECT_EQ(s_steps, "a-a");
}

TEST_F(service_test, a_service_that_its_first_use_starts_is_only_stopped) {
    std::vector const list{k_first, service{"what starts later", nullptr, &stop<'l'>}, k_third};
    EXPECT_EQ(start_all(list, with()).error, 0);
    EXPECT_EQ(s_steps, "ac");
    stop_all(list, with());
    EXPECT_EQ(s_steps, "ac-c-l-a");
}

TEST_F(service_test, each_service_of_the_run_time_has_a_name_and_something_to_do) {
    for (service const& one : tulle::runtime::services()) {
        EXPECT_NE(std::string(one.name), "");
        EXPECT_TRUE(one.start != nullptr || one.stop != nullptr) << one.name;
    }
}

} // namespace
