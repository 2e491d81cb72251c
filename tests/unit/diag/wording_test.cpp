// SPDX-License-Identifier: Apache-2.0
#include "diag/wording.hpp"

#include "sched/values/names.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <unistd.h>

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

TEST(wording, a_name_begins_no_line_and_is_no_command_to_the_terminal) {
    sched::remember_name(80, "a\nthread 1 \x1B[31m\x7F\t\xC2\x9B");
    EXPECT_STREQ(diag::name_of(80).text, "thread 80 \"a?thread 1 ?[31m????\"");
    sched::remember_name(80, "Kn\xC3\xB6"
                             "del \xC2\xA7");
    EXPECT_STREQ(diag::name_of(80).text, "thread 80 \"Kn\xC3\xB6"
                                         "del \xC2\xA7\"");
    sched::forget_name(80);
}

TEST(wording, public_functions_of_the_library_are_shown) {
    EXPECT_TRUE(diag::is_internal(made("tulle::sched::suspend()", "")));
    EXPECT_TRUE(diag::is_internal(made("run", "/usr/include/tulle/detail/record.hpp:7")));
    EXPECT_TRUE(diag::is_internal(made("operator()", "/usr/include/tulle/thread.hpp:7")));
    EXPECT_TRUE(diag::is_internal(made("bool tulle::sync::core<int>::take<char>(char&)", "")));
    EXPECT_TRUE(diag::is_internal(made("tulle::posix::lock(pthread_mutex_t*)", "")));
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
    std::pmr::vector<diag::symbol> const through_others{
        made("spawn", "/usr/include/tulle/thread.hpp:7"),
        made("spawn", "/usr/include/tulle/finish.hpp:9"), made("user", "user.cpp:3")};
    EXPECT_EQ(diag::site_of(through_others).function, "user");
    std::pmr::vector<diag::symbol> const only_ours{
        made("spawn", "/usr/include/tulle/thread.hpp:7")};
    EXPECT_EQ(diag::site_of(only_ours).function, "spawn");
}

class callables : public testing::Test {
protected:
    std::string printed(std::pmr::vector<diag::symbol> const& inlined) {
        int both[2];
        if (::pipe(both) != 0) return "no pipe";
        { diag::print_callable(*std::make_unique<diag::text_output>(both[1]), inlined); }
        ::close(both[1]);
        std::string text(1000, ' ');
        text.resize(static_cast<std::size_t>(
            std::max<ssize_t>(0, ::read(both[0], text.data(), text.size()))));
        ::close(both[0]);
        return text;
    }
};

TEST_F(callables, a_forked_thread_is_told_by_its_callable_and_where_that_is_written) {
    EXPECT_EQ(printed({made("tulle::child<main::{lambda()#1}>::run(tulle::detail::record*)",
                            "user.cpp:15"),
                       made("evaluate", "/usr/include/tulle/detail/closure.hpp:51"),
                       made("run", "/usr/include/tulle/fork.hpp:98")}),
              "forked as main::{lambda()#1} at user.cpp:15\n");
    EXPECT_EQ(printed({made("tulle::detail::scope_body<job>::run(tulle::detail::record*)",
                            "/usr/include/tulle/scope.hpp:9")}),
              "forked as job\n");
}

TEST_F(callables, are_the_users_where_the_library_has_one_of_its_own_around_them) {
    EXPECT_EQ(printed({made("tulle::detail::scope_body<tulle::cancellable_scope::spawn<f(int)::"
                            "{lambda()#2}>(f(int)::{lambda()#2}&&)::{lambda()#1}>::run(x*)",
                            "/usr/include/tulle/scope.hpp:44")}),
              "forked as f(int)::{lambda()#2}\n");
    EXPECT_EQ(printed({made("tulle::detail::scope_body<void tulle::cancellable_scope::spawn<f(int)"
                            "::$_0>(f(int)::$_0&&)::'lambda'()>::run(x*)", // as LLVM has it
                            "/usr/include/tulle/scope.hpp:44")}),
              "forked as f(int)::$_0\n");
}

TEST_F(callables, types_of_a_callable_are_no_end_of_it) {
    EXPECT_EQ(printed({made("tulle::child<f(int, g<int>)::{lambda(int, h<2>)#1} >::run(x*)", "")}),
              "forked as f(int, g<int>)::{lambda(int, h<2>)#1}\n");
    EXPECT_EQ(printed({made("tulle::child<auto (*)() -> int, true>::run(x*)", "")}),
              "forked as auto (*)() -> int\n");
}

TEST_F(callables, what_is_known_is_told) {
    EXPECT_EQ(printed({made("run", "user.cpp:15")}), "forked at user.cpp:15\n");
    EXPECT_EQ(printed({made("app+0x2e30", "")}), "forked as app+0x2e30\n");
    EXPECT_EQ(printed({made("std::x()", "/usr/include/c++/12/bits/exception_ptr.h:162"),
                       made("run", "/usr/include/tulle/scope.hpp:43")}),
              "forked, and run at /usr/include/tulle/scope.hpp:43\n");
    EXPECT_EQ(printed({made("tulle::loop::invitation::come_in(x*)", "include/tulle/a.hpp:7")}),
              "forked as tulle::loop::invitation::come_in(x*)\n");
}

} // namespace
