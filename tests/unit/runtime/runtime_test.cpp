// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;

// On a machine of 8 processors, 6 of which are allowed, with a quota of 2.5.
os::topology machine() {
    os::topology m;
    m.machine_cpus = 8;
    m.allowed_cpus = 6;
    m.quota_cpus = 2.5;
    m.default_workers = os::workers_for(m.allowed_cpus, m.quota_cpus);
    return m;
}

// "workers/most"; 0: not set.
std::string limits(int workers, int most) {
    base::option_table options;
    EXPECT_EQ(options.set("workers", std::to_string(workers), base::option_source::api),
              std::nullopt);
    EXPECT_EQ(options.set("max_workers", std::to_string(most), base::option_source::api),
              std::nullopt);
    auto const found = runtime::limits_of(options, machine());
    return found ? std::to_string(found->workers) + "/" + std::to_string(found->most) : "refused";
}

TEST(worker_limits, by_default_the_quota_and_the_machine) { EXPECT_EQ(limits(0, 0), "3/8"); }

TEST(worker_limits, options_decide) {
    EXPECT_EQ(limits(5, 0), "5/8");
    EXPECT_EQ(limits(20, 0), "20/20");
    EXPECT_EQ(limits(0, 20), "3/20");
    EXPECT_EQ(limits(4, 4), "4/4");
}

TEST(worker_limits, a_maximum_limits_the_default) { EXPECT_EQ(limits(0, 2), "2/2"); }

TEST(worker_limits, a_contradiction_is_refused) { EXPECT_EQ(limits(5, 4), "refused"); }

} // namespace
