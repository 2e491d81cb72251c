// SPDX-License-Identifier: Apache-2.0
#include "sched/runnable.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

struct runnable_list_test : ::testing::Test {
    runnable a{runnable_kind::fiber}, b{runnable_kind::fiber}, c{runnable_kind::thread};
    runnable_list list;

    void expect_order(std::initializer_list<runnable*> order) {
        for (runnable* const r : order) {
            EXPECT_EQ(list.first(), r);
            EXPECT_EQ(list.pop_front(), r);
        }
        EXPECT_TRUE(list.empty());
        EXPECT_EQ(list.pop_front(), nullptr);
    }
};

TEST_F(runnable_list_test, first_in_first_out) {
    list.push_back(a);
    list.push_back(b);
    list.push_back(c);
    expect_order({&a, &b, &c});
}

TEST_F(runnable_list_test, front_goes_first) {
    list.push_front(a);
    list.push_back(b);
    list.push_front(c);
    expect_order({&c, &a, &b});
}

TEST_F(runnable_list_test, can_be_used_again_when_it_was_emptied) {
    list.push_back(a);
    expect_order({&a});
    list.push_back(b);
    list.push_back(a);
    expect_order({&b, &a});
}

TEST_F(runnable_list_test, append_takes_all) {
    runnable_list others;
    list.append(others);
    EXPECT_TRUE(list.empty());
    others.push_back(b);
    others.push_back(c);
    list.push_back(a);
    list.append(others);
    EXPECT_TRUE(others.empty());
    expect_order({&a, &b, &c});
}

TEST_F(runnable_list_test, append_to_an_empty_list) {
    runnable_list others;
    others.push_back(a);
    list.append(others);
    list.push_back(b);
    expect_order({&a, &b});
}

} // namespace
