// SPDX-License-Identifier: Apache-2.0
//
// The typed test suite that runs a test over every context backend.
#pragma once

#include <tuple>
#include <type_traits>

#include <gtest/gtest.h>

#include "test_fiber.hpp"

template <class Tuple> struct types_of;
template <class... Backends> struct types_of<std::tuple<Backends...>> {
    using type = ::testing::Types<Backends...>;
};
using all_backends = types_of<tulle::arch::all_backends>::type;

template <class Backend> class over_backends : public ::testing::Test {
protected:
    static constexpr bool k_is_setjmp = std::is_same_v<Backend, tulle::arch::setjmp_backend>;

    void SetUp() override {
        if (k_is_setjmp && k_thread_sanitized) {
            GTEST_SKIP() << "ThreadSanitizer keeps a table of setjmp buffers per logical thread and aborts";
        }
    }
};
