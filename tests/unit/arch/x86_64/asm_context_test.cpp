// SPDX-License-Identifier: Apache-2.0
//
// What only the context of x86-64 has: its layout, as debuggers read it, and two units for floating
// point, each with control words and flags.
#include "arch/context.hpp"

#include <cfenv>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "test_fiber.hpp"

namespace {

TEST(asm_context, a_suspended_context_reads_as_documented) {
    static_assert(sizeof(tulle::arch::asm_backend::context) == sizeof(void*));
    std::uintptr_t frame = 0;
    test_fiber<tulle::arch::asm_backend> fiber([&](auto& self) {
        frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        self.yield();
    });
    auto const* const fresh = static_cast<std::uint64_t const*>(fiber.context().sp);
    EXPECT_EQ(fresh[1], 0U) << "the frame-pointer chain of a fresh context ends";
    fiber.resume();
    auto const* const words = static_cast<std::uint64_t const*>(fiber.context().sp);
    std::uint32_t landing_pad = 0;
    std::memcpy(&landing_pad, reinterpret_cast<void const*>(words[0]), sizeof landing_pad);
    EXPECT_EQ(landing_pad, 0xFA1E0FF3U) << "the resume address must be an endbr64";
    auto const restored_sp = reinterpret_cast<std::uintptr_t>(words) + 152;
    EXPECT_LT(restored_sp, frame);
    EXPECT_GT(restored_sp, reinterpret_cast<std::uintptr_t>(fiber.low()));
    EXPECT_EQ(static_cast<std::uint32_t>(words[2]) & 0xFFC0U, 0x1F80U)
        << "MXCSR as a process starts with";
    EXPECT_EQ(static_cast<std::uint16_t>(words[2] >> 32U), 0x037FU)
        << "x87 control word as a process starts with";
    fiber.resume();
}

// A context whose x87 exceptions are unmasked must not inherit the pending one of another.
TEST(asm_context, pending_exception_flags_do_not_trap_elsewhere) {
    test_fiber<tulle::arch::asm_backend> trapping([](auto& self) {
        std::uint16_t const unmasked = 0x037B; // division by zero
        asm volatile("fldcw %0" : : "m"(unmasked));
        self.yield();
        asm volatile("fwait");
        std::uint16_t now = 0;
        asm volatile("fnstcw %0" : "=m"(now));
        EXPECT_EQ(now, unmasked);
    });
    trapping.resume();
    std::uint16_t outside = 0;
    asm volatile("fnstcw %0" : "=m"(outside));
    EXPECT_EQ(outside, 0x037FU);
    asm volatile("fld1\n\tfldz\n\tfdivrp\n\tfstp %%st(0)" : : : "st", "st(1)");
    trapping.resume();
    EXPECT_TRUE(trapping.done());
}

TEST(asm_context, sse_status_flags_belong_to_the_context) {
    for (int const mode : {FE_TONEAREST, FE_DOWNWARD}) { // equal control words, and different ones
        test_fiber<tulle::arch::asm_backend> fiber([mode](auto& self) {
            std::fesetround(mode);
            std::feclearexcept(FE_ALL_EXCEPT);
            self.yield();
            EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0) << "raised outside";
            double volatile three = 3.0;
            double volatile third = 1.0 / three;
            static_cast<void>(third);
            self.yield();
            EXPECT_NE(std::fetestexcept(FE_INEXACT), 0) << "raised before it was suspended";
        });
        fiber.resume();
        std::feclearexcept(FE_ALL_EXCEPT);
        double volatile large = 1e300;
        double volatile infinite = large * large;
        static_cast<void>(infinite);
        std::feclearexcept(FE_INEXACT);
        fiber.resume();
        EXPECT_EQ(std::fetestexcept(FE_INEXACT), 0) << mode;
        EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0) << mode;
        fiber.resume();
        EXPECT_TRUE(fiber.done());
    }
    std::feclearexcept(FE_ALL_EXCEPT);
}

} // namespace
