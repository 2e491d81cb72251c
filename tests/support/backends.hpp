// SPDX-License-Identifier: Apache-2.0
//
// The typed test suite that runs a test over every context backend.
#pragma once

#include <type_traits>

#include <gtest/gtest.h>

#include "test_fiber.hpp"

#if defined(__x86_64__)
using all_backends = ::testing::Types<tulle::arch::asm_backend, tulle::arch::ucontext_backend, tulle::arch::setjmp_backend>;
#else
using all_backends = ::testing::Types<tulle::arch::ucontext_backend, tulle::arch::setjmp_backend>;
#endif

template <class Backend> class over_backends : public ::testing::Test {
protected:
    static constexpr bool k_is_setjmp = std::is_same_v<Backend, tulle::arch::setjmp_backend>;

    void SetUp() override {
        if (k_is_setjmp && k_thread_sanitized) {
            GTEST_SKIP() << "ThreadSanitizer keeps a table of setjmp buffers per logical thread and aborts";
        }
    }
};
