// SPDX-License-Identifier: Apache-2.0
#include "arch/context.hpp"

#if __has_include(TULLE_ARCH_FILE(asm_backend.hpp))

#include <gtest/gtest.h>

#include "test_fiber.hpp"

namespace {

TEST(asm_backend, outlined_switch_does_the_same) {
    struct outlined : tulle::arch::asm_backend {
        static void switch_to(context& from, context const& to) noexcept {
            switch_to_outlined(from, to);
        }
    };
    int steps = 0;
    test_fiber<outlined> fiber([&](auto& self) {
        ++steps;
        self.yield();
        ++steps;
    });
    fiber.resume();
    EXPECT_EQ(steps, 1);
    fiber.resume();
    EXPECT_EQ(steps, 2);
    EXPECT_TRUE(fiber.done());
}

} // namespace

#endif
