// SPDX-License-Identifier: Apache-2.0
#include "arch/stack_probe.hpp"

#include "arch/registers.hpp"

#include <array>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

constexpr std::uintptr_t k_here = 0x7000'0000;

#if defined(__x86_64__)
ucontext_t stopped_at(std::uint8_t const* code, std::uintptr_t r11) {
    ucontext_t where{};
    where.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(code);
    where.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(k_here);
    where.uc_mcontext.gregs[REG_R11] = static_cast<greg_t>(r11);
    return where;
}

constexpr std::array<std::uint8_t, 8> k_gcc{0x48, 0x83, 0x0c, 0x24, 0x00};   // orq $0, (%rsp)
constexpr std::array<std::uint8_t, 8> k_clang{0x48, 0xc7, 0x04, 0x24};       // movq $0, (%rsp)
constexpr std::array<std::uint8_t, 8> k_other{0x48, 0x83, 0x0c, 0x24, 0x01}; // orq $1, (%rsp)

TEST(stack_probe, tells_where_the_stack_pointer_was_going) {
    for (auto const* code : {k_gcc.data(), k_clang.data()})
        EXPECT_EQ(arch::probe_target(stopped_at(code, k_here - 40960)), k_here - 40960);
}

TEST(stack_probe, other_code_is_no_probe) {
    EXPECT_EQ(arch::probe_target(stopped_at(k_other.data(), k_here - 40960)), 0U);
}

TEST(stack_probe, a_register_with_something_else_in_it_is_not_believed) {
    for (std::uintptr_t const r11 : {k_here, k_here + 4096, k_here - 100, std::uintptr_t{7}})
        EXPECT_EQ(arch::probe_target(stopped_at(k_gcc.data(), r11)), 0U) << r11;
}
#else
TEST(stack_probe, knows_nothing_elsewhere) { EXPECT_EQ(arch::probe_target(ucontext_t{}), 0U); }
#endif

} // namespace
