// SPDX-License-Identifier: Apache-2.0
//
// What a std::system_error says: the number, and the sentence in front of the system's own text.
#pragma once

#include <string>
#include <system_error>

#include <gtest/gtest.h>

// Its number; 0: nothing was thrown.
template <class Call> int error_of(Call&& call) {
    try {
        call();
    } catch (std::system_error const& e) {
        return e.code().value();
    }
    return 0;
}

template <class Call> void expect_system_error(Call call, int error, std::string const& message) {
    try {
        call();
        ADD_FAILURE() << "nothing was thrown";
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code().value(), error);
        EXPECT_TRUE(std::string(e.what()).starts_with(message + ": ")) << e.what();
    }
}
