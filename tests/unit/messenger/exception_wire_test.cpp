// SPDX-License-Identifier: Apache-2.0
//
// Exceptions as they arrive. Of those within lists within lists as many as fit on a stack travel,
// and no more are taken.
#include "messenger/exception_wire.hpp"

#include <tulle/finish.hpp>
#include <tulle/global_memory.hpp>
#include <tulle/place.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
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

template <class E> void expect_arrives_as_itself(E const& thrown) {
    auto const bytes = bytes_of(std::make_exception_ptr(thrown));
    wire_reader in(bytes);
    try {
        std::rethrow_exception(messenger::get_exception(in));
    } catch (std::exception const& e) {
        EXPECT_EQ(typeid(e), typeid(E)) << typeid(e).name();
        EXPECT_STREQ(e.what(), thrown.what());
    }
}

TEST(exception_wire_test, those_that_the_header_lists_arrive_as_themselves) {
    expect_arrives_as_itself(std::bad_alloc());
    expect_arrives_as_itself(std::bad_array_new_length());
    expect_arrives_as_itself(out_of_global_memory());
    expect_arrives_as_itself(std::runtime_error("a"));
    expect_arrives_as_itself(std::range_error("b"));
    expect_arrives_as_itself(std::overflow_error("c"));
    expect_arrives_as_itself(std::underflow_error("d"));
    expect_arrives_as_itself(std::logic_error("e"));
    expect_arrives_as_itself(std::invalid_argument("f"));
    expect_arrives_as_itself(std::domain_error("g"));
    expect_arrives_as_itself(std::length_error("h"));
    expect_arrives_as_itself(std::out_of_range(""));
    expect_arrives_as_itself(std::bad_cast());
    expect_arrives_as_itself(std::bad_typeid());
    expect_arrives_as_itself(std::bad_function_call());
    expect_arrives_as_itself(std::bad_weak_ptr());
    expect_arrives_as_itself(std::bad_optional_access());
    expect_arrives_as_itself(std::bad_variant_access());
    expect_arrives_as_itself(wire_error("i"));
    expect_arrives_as_itself(dead_place(1, 7, "j"));
}

TEST(exception_wire_test, numbers_of_errors_arrive_with_and_without_a_text) {
    expect_arrives_as_itself(std::system_error(EPERM, std::generic_category()));
    expect_arrives_as_itself(std::system_error(EPERM, std::generic_category(), "text"));
    expect_arrives_as_itself(std::system_error(ENOSPC, std::system_category()));
    expect_arrives_as_itself(std::system_error(ENOSPC, std::system_category(), "a: text"));
}

struct lack_of_something : std::bad_alloc {
    [[nodiscard]] char const* what() const noexcept override { return "words of its own"; }
};

TEST(exception_wire_test, what_derives_from_them_keeps_its_name_and_text) {
    auto const bytes = bytes_of(std::make_exception_ptr(lack_of_something()));
    wire_reader in(bytes);
    try {
        std::rethrow_exception(messenger::get_exception(in));
    } catch (remote_error const& e) {
        EXPECT_NE(e.type().find("lack_of_something"), std::string::npos) << e.type();
        EXPECT_EQ(e.text(), "words of its own");
        EXPECT_EQ(e.place(), 3);
    } catch (std::exception const& e) {
        ADD_FAILURE() << typeid(e).name() << ": " << e.what();
    }
}

} // namespace
