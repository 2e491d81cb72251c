// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_overflow.hpp"

#include "arch/current_stack.hpp"

#include <tulle/detail/attributes.hpp>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using diag::overflow_kind;

constexpr std::uintptr_t k_low = 0x1000'0000;
constexpr std::size_t k_guard = 4096;
constexpr std::size_t k_size = 65536 - k_guard;

stack::span own() { return {reinterpret_cast<std::byte*>(k_low), k_size}; }

diag::fault fault_at(std::uintptr_t address, std::uintptr_t stack_pointer,
                     std::uintptr_t probe_target = 0) {
    diag::fault f{address, probe_target, {}};
    f.from.set(arch::k_stack_pointer, stack_pointer);
    return f;
}

overflow_kind kind_of(std::uintptr_t address, std::uintptr_t stack_pointer,
                      std::size_t guard = k_guard) {
    return diag::suspect(fault_at(address, stack_pointer), own(), guard);
}

TEST(stack_overflow, an_access_to_the_guard_by_a_thread_at_the_end) {
    EXPECT_EQ(kind_of(k_low - 8, k_low), overflow_kind::into_guard);
    EXPECT_EQ(kind_of(k_low - k_guard, k_low - k_guard), overflow_kind::into_guard);
    EXPECT_EQ(kind_of(k_low - 100, k_low + 100), overflow_kind::into_guard); // the red zone
    EXPECT_EQ(kind_of(k_low - 100, k_low - 5'000'000), overflow_kind::into_guard);
}

TEST(stack_overflow, a_wrong_pointer_is_none) {
    EXPECT_EQ(kind_of(k_low - 8, k_low + 30'000), overflow_kind::none);
    EXPECT_EQ(kind_of(k_low - k_guard - 1, k_low + 30'000), overflow_kind::none);
    EXPECT_EQ(kind_of(0, k_low + 100), overflow_kind::none);
    EXPECT_EQ(kind_of(k_low + 8, k_low + 8), overflow_kind::none);
    EXPECT_EQ(kind_of(0, k_low + k_size + 8), overflow_kind::none);
    // The stack is the system's.
    EXPECT_EQ(diag::suspect(fault_at(0, 0), {}, k_guard), overflow_kind::none);
}

TEST(stack_overflow, a_stack_pointer_below_the_stack_is_suspect_whatever_faults) {
    EXPECT_EQ(kind_of(0, k_low - 1), overflow_kind::past_guard);
    EXPECT_EQ(kind_of(k_low - 30'000, k_low - 40'000), overflow_kind::past_guard);
    EXPECT_EQ(kind_of(k_low - 8, k_low - 8, 0), overflow_kind::past_guard); // compact
}

TEST(stack_overflow, without_registers_only_the_guard_tells) {
    auto const at = [](std::uintptr_t address) { return diag::fault{address, 0, {}}; };
    EXPECT_EQ(diag::suspect(at(k_low - 8), own(), k_guard), overflow_kind::into_guard);
    EXPECT_EQ(diag::suspect(at(k_low - k_guard - 8), own(), k_guard), overflow_kind::none);
    EXPECT_EQ(diag::suspect(at(0), own(), k_guard), overflow_kind::none);
    EXPECT_EQ(diag::suspect(at(k_low + 8), own(), k_guard), overflow_kind::none);
    EXPECT_EQ(diag::bytes_wanted(at(k_low - 8), own()), k_size + 8);
}

TEST(stack_overflow, what_was_wanted_reaches_down_to_the_end_of_the_frame) {
    EXPECT_EQ(diag::bytes_wanted(fault_at(k_low - 8, k_low + 8), own()), k_size);
    EXPECT_EQ(diag::bytes_wanted(fault_at(k_low - 100'000, k_low - 200'000), own()),
              k_size + 200'000);
    EXPECT_EQ(diag::bytes_wanted(fault_at(k_low - 96, k_low - 96, k_low - 4'000'000), own()),
              k_size + 4'000'000);
}

TEST(stack_overflow, the_size_to_set_is_larger_than_the_frame_and_than_before) {
    EXPECT_EQ(diag::size_to_set(65536, 61440), 131072U);
    EXPECT_EQ(diag::size_to_set(65536, 69632), 131072U); // into the guard
    EXPECT_EQ(diag::size_to_set(65536, 100'000), 262144U);
    EXPECT_EQ(diag::size_to_set(65536, std::size_t{4} << 20U), std::size_t{8} << 20U);
    EXPECT_EQ(diag::size_to_set(1024, 1100), 16384U);
    // With its margin more than there is.
    EXPECT_EQ(diag::size_to_set(std::size_t{512} << 20U, std::size_t{1} << 30U), 0U);
    EXPECT_EQ(diag::size_to_set(std::size_t{1} << 30U, std::size_t{1} << 30U), 0U);
}

// As if the stack ended at the frame of the caller.
TULLE_NOINLINE bool is_on_stack_of_caller(std::uintptr_t low) {
    auto const bounds = arch::os_thread_stack();
    auto* const end = static_cast<std::byte*>(bounds.low) + bounds.size;
    stack::span const own{reinterpret_cast<std::byte*>(low),
                          static_cast<std::size_t>(end - reinterpret_cast<std::byte*>(low))};
    return diag::began_on(own, arch::registers_of(arch::this_code_point()));
}

TEST(stack_overflow, a_frame_below_the_stack_belongs_to_its_caller_on_it) {
    if (!arch::k_can_unwind) GTEST_SKIP() << "no unwinder for this architecture";
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    EXPECT_TRUE(is_on_stack_of_caller(here - 16));
}

TEST(stack_overflow, a_stack_that_no_caller_stands_on_is_another_one) {
    auto const bounds = arch::os_thread_stack();
    auto const low = reinterpret_cast<std::uintptr_t>(bounds.low);
    // The first frame may begin at the very end of the stack: what the program was started with
    // lies above.
    stack::span const far_above{reinterpret_cast<std::byte*>(low + bounds.size + 64), 32};
    stack::span const below{reinterpret_cast<std::byte*>(low - 8192), 4096};
    EXPECT_FALSE(diag::began_on(far_above, arch::registers_of(arch::this_code_point())));
    EXPECT_FALSE(diag::began_on(below, arch::registers_of(arch::this_code_point())));
}

} // namespace
