// SPDX-License-Identifier: Apache-2.0
#include "os/private_descriptor.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tulle::os {
namespace {

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool stands(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(private_descriptor, is_known_while_it_is_open) {
    int number = -1;
    {
        private_descriptor const made(open_something());
        ASSERT_TRUE(made.is_open());
        number = made.number();
        EXPECT_TRUE(private_descriptor::is_one(number));
        EXPECT_TRUE(stands(number));
    }
    EXPECT_FALSE(private_descriptor::is_one(number));
    EXPECT_FALSE(stands(number));
}

TEST(private_descriptor, none_is_none_and_leaves_errno) {
    errno = EMFILE;
    private_descriptor const none(-1);
    EXPECT_FALSE(none.is_open());
    EXPECT_EQ(errno, EMFILE);
    EXPECT_FALSE(private_descriptor::is_one(-1));
    EXPECT_FALSE(private_descriptor::is_one(1 << 30));
}

TEST(private_descriptor, goes_along_when_it_is_moved) {
    private_descriptor first(open_something());
    int const number = first.number();
    private_descriptor second(std::move(first));
    EXPECT_EQ(second.number(), number);
    private_descriptor third(open_something());
    int const replaced = third.number();
    third = std::move(second);
    EXPECT_EQ(third.number(), number);
    EXPECT_TRUE(private_descriptor::is_one(number));
    EXPECT_FALSE(stands(replaced));
}

using range = std::pair<unsigned, unsigned>;

std::vector<range> others_in(unsigned first, unsigned last) {
    std::vector<range> seen;
    EXPECT_EQ(private_descriptor::for_others(first, last,
                                             [&](unsigned from, unsigned to) {
                                                 seen.emplace_back(from, to);
                                                 return 0;
                                             }),
              0);
    return seen;
}

// At this number, which is free.
private_descriptor made_at(int number) {
    int const opened = open_something();
    int const there = ::fcntl(opened, F_DUPFD_CLOEXEC, number);
    EXPECT_EQ(there, number);
    ::close(opened);
    return private_descriptor(there);
}

TEST(private_descriptor, ranges_leave_them_out) {
    constexpr unsigned k_all = ~0U;
    private_descriptor const low = made_at(400), next = made_at(401), high = made_at(700);
    EXPECT_EQ(others_in(390, 900), (std::vector<range>{{390, 399}, {402, 699}, {701, 900}}));
    EXPECT_EQ(others_in(400, 700), (std::vector<range>{{402, 699}}));
    EXPECT_EQ(others_in(401, 401), (std::vector<range>{}));
    EXPECT_EQ(others_in(402, 402), (std::vector<range>{{402, 402}}));
    EXPECT_EQ(others_in(701, k_all), (std::vector<range>{{701, k_all}}));
    EXPECT_EQ(others_in(k_all, k_all), (std::vector<range>{{k_all, k_all}}));
}

TEST(private_descriptor, first_result_that_is_not_0_ends_it) {
    private_descriptor const one = made_at(500);
    int calls = 0;
    EXPECT_EQ(private_descriptor::for_others(490, 510, [&](unsigned, unsigned) { return ++calls; }),
              1);
    EXPECT_EQ(calls, 1);
}

// In a process of its own, as it holds for all that follow.
void lie_high_and_exit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 160;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    private_descriptor::lie_high();
    std::vector<private_descriptor> made;
    for (int k = 0; k != 12; ++k) made.emplace_back(open_something());
    bool is_right = made[0].number() == 150 && made[9].number() == 159;
    // There is no room there any more.
    is_right = is_right && made[10].number() < 150 && made[11].number() < 150;
    for (private_descriptor const& one : made)
        is_right = is_right && private_descriptor::is_one(one.number()) && stands(one.number());
    std::_Exit(is_right ? 0 : 1);
}

TEST(private_descriptor_death_test, lie_above_the_numbers_of_programs) {
    EXPECT_EXIT(lie_high_and_exit(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace tulle::os
