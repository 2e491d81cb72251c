// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_trace.hpp"

#include "arch/context.hpp"
#include "arch/current_stack.hpp"
#include "test_fiber.hpp"

#include <tulle/detail/attributes.hpp>

#include <csignal>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

diag::stack_range own_stack() {
    auto const bounds = arch::os_thread_stack();
    auto const low = reinterpret_cast<std::uintptr_t>(bounds.low);
    return {low, low + bounds.size};
}

// Whether some frame is in a function that begins at `function`.
bool passes_through(diag::stack_trace const& trace, void (*function)(diag::stack_trace&)) {
    constexpr std::uintptr_t k_longest_function = 512;
    auto const begin = reinterpret_cast<std::uintptr_t>(function);
    for (std::size_t k = 0; k < trace.count; ++k) {
        if (trace.pcs[k] >= begin && trace.pcs[k] < begin + k_longest_function) return true;
    }
    return false;
}

TULLE_NOINLINE void innermost(diag::stack_trace& out) {
    diag::unwind(arch::registers_of(arch::this_code_point()), own_stack(), out);
    asm volatile("");
}
TULLE_NOINLINE void with_large_frame(diag::stack_trace& out) {
    volatile char large[20000];
    large[19999] = 1;
    innermost(out);
    static_cast<void>(large[19999]);
}
// Its frame address is not a constant distance from the stack pointer.
TULLE_NOINLINE void with_variable_frame(diag::stack_trace& out) {
    auto* const block = static_cast<volatile char*>(__builtin_alloca(out.count + 100));
    block[0] = 1;
    with_large_frame(out);
    static_cast<void>(block[0]);
}
// The compiler realigns the stack.
TULLE_NOINLINE void with_aligned_frame(diag::stack_trace& out) {
    alignas(128) volatile char block[256];
    block[0] = 1;
    with_variable_frame(out);
    static_cast<void>(block[0]);
}

TEST(stack_trace, of_the_running_thread) {
    if (!arch::k_can_unwind) GTEST_SKIP() << "stacks of this architecture are not unwound";
    diag::stack_trace trace;
    with_aligned_frame(trace);
    ASSERT_GT(trace.count, 6U);
    for (auto* const function :
         {&innermost, &with_large_frame, &with_variable_frame, &with_aligned_frame})
        EXPECT_TRUE(passes_through(trace, function));
}

TEST(stack_trace, nothing_outside_of_the_stack_is_read) {
    if (!arch::k_can_unwind) GTEST_SKIP() << "stacks of this architecture are not unwound";
    diag::stack_trace trace;
    arch::registers nonsense = arch::registers_of(arch::this_code_point());
    nonsense.set(arch::k_stack_pointer, 8);
    nonsense.set(arch::k_frame_pointer, 16);
    diag::unwind(nonsense, own_stack(), trace);
    EXPECT_EQ(trace.count, 1U);
    nonsense.pc = 1;
    diag::unwind(nonsense, own_stack(), trace);
    EXPECT_EQ(trace.count, 1U);
}

TULLE_NOINLINE std::size_t recurse(int depth, diag::stack_trace& out) { // NOLINT: that is the point
    if (depth == 0) innermost(out);
    std::size_t const below = depth == 0 ? 0 : recurse(depth - 1, out);
    asm volatile("");
    return below + 1;
}

TEST(stack_trace, a_deep_stack_is_cut) {
    if (!arch::k_can_unwind) GTEST_SKIP() << "stacks of this architecture are not unwound";
    diag::stack_trace trace;
    EXPECT_EQ(recurse(200, trace), 201U);
    EXPECT_EQ(trace.count, diag::stack_trace::k_most);
    EXPECT_TRUE(trace.cut);
}

#ifdef __x86_64__

// --- stopped at each instruction -----------------------------------------------------------------

constexpr greg_t k_trap_flag = 0x100;

struct steps {
    volatile bool wanted = false;
    diag::stack_range stack;
    std::size_t seen = 0, lost = 0;
    std::uintptr_t lost_at = 0;
} g_steps;

TULLE_NOINLINE void step_through_a_call(diag::stack_trace&);

void look_at_step(int, siginfo_t*, void* interrupted) {
    auto& context = *static_cast<ucontext_t*>(interrupted);
    if (!g_steps.wanted) context.uc_mcontext.gregs[REG_EFL] &= ~k_trap_flag;
    diag::stack_trace trace;
    diag::unwind(arch::registers_of(context), g_steps.stack, trace);
    ++g_steps.seen;
    if (passes_through(trace, &step_through_a_call)) return;
    ++g_steps.lost;
    g_steps.lost_at = arch::pc_of(context);
}

void step_through_a_call(diag::stack_trace&) {
    g_steps.wanted = true;
    // The first step ends behind the last instruction here, with the stack as it was.
    asm volatile(
        "lea -128(%%rsp), %%rsp\n pushfq\n orq %0, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::"i"(
            k_trap_flag)
        : "memory", "cc");
    ::getppid();
    g_steps.wanted = false;
}

// By way of the linker's stub, into the C library and back.
TEST(stack_trace, of_each_instruction_of_a_call) {
    struct sigaction stepping = {}, before = {};
    stepping.sa_sigaction = &look_at_step;
    stepping.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &stepping, &before), 0);
    g_steps.stack = own_stack();
    diag::stack_trace unused;
    ::getppid(); // the dynamic linker has done its work
    step_through_a_call(unused);
    ASSERT_EQ(::sigaction(SIGTRAP, &before, nullptr), 0);
    EXPECT_GE(g_steps.seen, 5U); // the stub, two to four of the function, and the store
    EXPECT_EQ(g_steps.lost, 0U) << "the last one at " << std::hex << g_steps.lost_at;
}

#endif

} // namespace
