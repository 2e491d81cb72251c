// SPDX-License-Identifier: Apache-2.0
#include "diag/wording.hpp"

#include "sched/names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

diag::symbol made(char const* function, char const* place) { return {function, place}; }

TEST(wording, a_thread_is_its_number_and_its_name) {
    EXPECT_STREQ(diag::name_of(0).text, "a forked thread");
    EXPECT_STREQ(diag::name_of(77).text, "thread 77");
    sched::remember_name(78, "x");
    EXPECT_STREQ(diag::name_of(78).text, "thread 78 \"x\"");
    sched::forget_name(78);
}

TEST(wording, a_long_name_is_cut) {
    sched::remember_name(79, std::string(1000, 'a'));
    EXPECT_LT(std::string(diag::name_of(79).text).size(), sizeof(diag::phrase::text));
    sched::forget_name(79);
}

TEST(wording, public_functions_of_the_library_are_shown) {
    EXPECT_TRUE(diag::is_internal(made("tulle::sched::suspend()", "")));
    EXPECT_TRUE(diag::is_internal(made("run", "/usr/include/tulle/detail/record.hpp:7")));
    EXPECT_TRUE(diag::is_internal(made("operator()", "/usr/include/tulle/thread.hpp:7")));
    EXPECT_TRUE(diag::is_internal(made("bool tulle::sync::core<int>::take<char>(char&)", "")));
    // With what it has inlined.
    EXPECT_FALSE(diag::is_internal(made("user(tulle::mutex&)", "/usr/include/tulle/mutex.hpp:7")));
    EXPECT_FALSE(diag::is_internal(made("tulle::latch::wait()", "/usr/include/tulle/latch.hpp:7")));
    EXPECT_FALSE(diag::is_internal(made("main", "/home/someone/main.cpp:7")));
}

TEST(wording, the_site_is_in_the_users_function) {
    std::pmr::vector<diag::symbol> const inlined{made("spawn", "/usr/include/tulle/thread.hpp:7"),
                                                 made("user", "user.cpp:3"),
                                                 made("main", "user.cpp:9")};
    EXPECT_EQ(diag::site_of(inlined).function, "user");
    std::pmr::vector<diag::symbol> const only_ours{
        made("spawn", "/usr/include/tulle/thread.hpp:7")};
    EXPECT_EQ(diag::site_of(only_ours).function, "spawn");
}

} // namespace
