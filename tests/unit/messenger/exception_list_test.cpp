// SPDX-License-Identifier: Apache-2.0
//
// What a list of exceptions says.
#include <tulle/finish.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tulle;

template <class... E> exception_list list_of_errors(E const&... errors) {
    return exception_list(std::vector<std::exception_ptr>{std::make_exception_ptr(errors)...});
}

TEST(exception_list_test, says_how_many_there_are_and_what_the_first_says) {
    exception_list const list =
        list_of_errors(std::out_of_range("the seventh is missing"), std::logic_error("no"), 42);
    EXPECT_STREQ(list.what(), "tulle::finish: 3 exceptions; the first: the seventh is missing");
    EXPECT_EQ(list.all().size(), 3U);
}

TEST(exception_list_test, names_the_type_of_what_is_no_standard_exception) {
    EXPECT_STREQ(list_of_errors(42, std::logic_error("no")).what(),
                 "tulle::finish: 2 exceptions; the first: an exception of type int");
}

TEST(exception_list_test, a_list_within_a_list_says_what_its_first_one_says) {
    exception_list const inner = list_of_errors(std::logic_error("innermost"), 1);
    EXPECT_STREQ(list_of_errors(inner, 2, 3).what(),
                 "tulle::finish: 3 exceptions; the first: tulle::finish: 2 exceptions; the first: "
                 "innermost");
}

TEST(exception_list_test, the_text_of_lists_within_lists_is_bounded) {
    exception_list list = list_of_errors(std::logic_error("innermost"));
    for (int k = 0; k != 1000; ++k) list = list_of_errors(list);
    EXPECT_LT(std::string(list.what()).size(), 500U);
    EXPECT_TRUE(std::string(list.what()).ends_with(" ..."));
}

TEST(exception_list_test, may_be_empty_or_hold_null_pointers) {
    EXPECT_STREQ(list_of_errors().what(), "tulle::finish: 0 exceptions");
    EXPECT_STREQ(exception_list({std::exception_ptr(), std::exception_ptr()}).what(),
                 "tulle::finish: 2 exceptions");
}

TEST(exception_list_test, leaves_a_finish_with_the_text) {
    try {
        finish([](activities& all) {
            for (int k = 0; k < 2; ++k) all.async([] { throw std::runtime_error("from inside"); });
        });
        ADD_FAILURE() << "nothing is thrown";
    } catch (std::runtime_error const& e) {
        EXPECT_STREQ(e.what(), "tulle::finish: 2 exceptions; the first: from inside");
    }
}

} // namespace
