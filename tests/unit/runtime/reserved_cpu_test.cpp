// SPDX-License-Identifier: Apache-2.0
//
// A CPU that is kept from the workers, at one place.
#include "os/topology.hpp"

#include <tulle/runtime.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

std::vector<int> cpus_of_this_thread() { return os::undivided().groups.front().cpus; }

class reserved_cpu : public testing::Test {
protected:
    reserved_cpu() { set_option("reserve_cpu", "1"); }
    ~reserved_cpu() override { set_option("reserve_cpu", "off"); }
    [[nodiscard]] std::vector<int> others() const { return {m_all.begin() + 1, m_all.end()}; }

    std::vector<int> m_all = cpus_of_this_thread();
};

TEST_F(reserved_cpu, is_not_the_callers_until_the_end) {
    if (m_all.size() < 2) GTEST_SKIP() << "one CPU";
    for (int k = 0; k < 2; ++k) {
        initialize();
        EXPECT_EQ(cpus_of_this_thread(), others());
        finalize();
        EXPECT_EQ(cpus_of_this_thread(), m_all);
    }
}

TEST_F(reserved_cpu, stays_reserved_when_the_system_is_looked_at_again) {
    if (m_all.size() < 2) GTEST_SKIP() << "one CPU";
    initialize();
    int const before = worker_count();
    EXPECT_LE(before, static_cast<int>(others().size()));
    set_worker_count(0);
    EXPECT_EQ(worker_count(), before);
    EXPECT_EQ(cpus_of_this_thread(), others());
    finalize();
}

} // namespace
