// SPDX-License-Identifier: Apache-2.0
#include "arch/current_stack.hpp"

#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "backends.hpp"

namespace {

using tulle::arch::os_thread_stack;

void expect_around_this_frame() {
    auto const bounds = os_thread_stack();
    auto const low = reinterpret_cast<std::uintptr_t>(bounds.low);
    auto const frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    ASSERT_NE(low, 0U);
    EXPECT_GT(frame, low);
    EXPECT_LT(frame, low + bounds.size);
}

TEST(current_stack, surrounds_a_frame) {
    expect_around_this_frame();
    std::thread(&expect_around_this_frame).join();
}

TEST(current_stack, is_the_os_threads_own_inside_a_context) {
    auto const outside = os_thread_stack();
    void* inside = nullptr;
    test_fiber<tulle::arch::backend> fiber([&](auto&) { inside = os_thread_stack().low; });
    fiber.resume();
    EXPECT_EQ(inside, outside.low);
}

} // namespace
