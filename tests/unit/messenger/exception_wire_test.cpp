// SPDX-License-Identifier: Apache-2.0
//
// Exceptions within lists within lists: as many as fit on a stack travel, and no more are taken.
#include "messenger/exception_wire.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tulle;

std::exception_ptr in_lists(int depth) {
    auto e = std::make_exception_ptr(std::runtime_error("innermost"));
    for (int k = 0; k != depth; ++k)
        e = std::make_exception_ptr(exception_list(std::vector<std::exception_ptr>{e}));
    return e;
}

std::vector<std::byte> bytes_of(std::exception_ptr const& e) {
    wire_writer out;
    messenger::put_exception(out, e, 3);
    return {out.data(), out.data() + out.size()};
}

struct found {
    int lists = 0;
    std::string text{};
};

found look_into(std::exception_ptr e) {
    found all;
    for (;;) {
        try {
            std::rethrow_exception(e);
        } catch (exception_list const& list) {
            ++all.lists;
            e = list.all().at(0);
        } catch (std::exception const& other) {
            all.text = other.what();
            return all;
        }
    }
}

found sent(std::exception_ptr const& e) {
    auto const bytes = bytes_of(e);
    wire_reader in(bytes);
    return look_into(messenger::get_exception(in));
}

TEST(exception_wire_test, a_few_lists_arrive_as_they_are) {
    found const all = sent(in_lists(20));
    EXPECT_EQ(all.lists, 20);
    EXPECT_EQ(all.text, "innermost");
}

TEST(exception_wire_test, of_very_many_lists_the_outer_ones_arrive) {
    found const all = sent(in_lists(2000));
    EXPECT_GE(all.lists, 20);
    EXPECT_LT(all.lists, 2000);
    EXPECT_NE(all.text.find("exception_list, thrown at place 3"), std::string::npos) << all.text;
}

TEST(exception_wire_test, a_message_that_only_begins_lists_is_refused) {
    // What a list of one begins with: what it is longer by than what it holds.
    auto const within = bytes_of(in_lists(0)), whole = bytes_of(in_lists(1));
    auto const begin = static_cast<std::ptrdiff_t>(whole.size() - within.size());
    std::vector<std::byte> bytes;
    for (int k = 0; k != 1'000'000; ++k)
        bytes.insert(bytes.end(), whole.begin(), whole.begin() + begin);
    bytes.insert(bytes.end(), within.begin(), within.end());
    wire_reader in(bytes);
    EXPECT_THROW(static_cast<void>(messenger::get_exception(in)), wire_error);
}

} // namespace
