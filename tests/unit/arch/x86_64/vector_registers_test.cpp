// SPDX-License-Identifier: Apache-2.0
//
// Around a call of a function that uses vector registers, for callers that hold values in them:
// each register of each size that the processor has, and the stack of the x87.
#include "arch/vector_registers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

namespace {

constexpr std::size_t k_most_bytes = 32 * 64 + 8 * 8; // 32 registers of 64 bytes, and 8 masks

struct alignas(64) values : std::array<std::uint64_t, k_most_bytes / 8> {};

values numbered(std::uint64_t first) {
    values made{};
    for (std::uint64_t& each : made) each = first++ * 0x0101010101010101U;
    return made;
}

// The registers of one size: how many bytes of `values` they have, and what loads and stores them.
struct register_file {
    char const* name;
    std::size_t bytes;
    bool is_there;
    void (*load)(values const& from);
    // Puts `before` into the registers, calls tulle_keep_vectors(call, argument) and returns what
    // is in the registers then. The compiler has no chance to use one of them in between.
    values (*after)(values const& before, void (*call)(void*), void* argument);
};

#define ALL_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ALL_32 ALL_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define EACH(numbers, instruction) ".irp n," numbers "\n\t" instruction "\n\t.endr\n\t"
#define CALL                                                                                       \
    "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\tcall *%[keep]\n\t"               \
    "movq %%rbx, %%rsp\n\t"
#define KEEPS_BUT_VECTORS                                                                          \
    "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2",  \
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
        "xmm13", "xmm14", "xmm15"

#define LOAD_SSE EACH(ALL_16, "movups \\n*16(%[from]), %%xmm\\n")
#define STORE_SSE EACH(ALL_16, "movups %%xmm\\n, \\n*16(%[to])")
#define LOAD_AVX EACH(ALL_16, "vmovdqu \\n*32(%[from]), %%ymm\\n")
#define STORE_AVX EACH(ALL_16, "vmovdqu %%ymm\\n, \\n*32(%[to])")
#define LOAD_AVX512                                                                                \
    EACH(ALL_32, "vmovdqu64 \\n*64(%[from]), %%zmm\\n")                                            \
    EACH("0,1,2,3,4,5,6,7", "kmovq 2048+\\n*8(%[from]), %%k\\n")
#define STORE_AVX512                                                                               \
    EACH(ALL_32, "vmovdqu64 %%zmm\\n, \\n*64(%[to])")                                              \
    EACH("0,1,2,3,4,5,6,7", "kmovq %%k\\n, 2048+\\n*8(%[to])")

#define OF_SIZE(name, LOAD, STORE)                                                                 \
    void load_##name(values const& from) {                                                         \
        asm volatile(LOAD : : [from] "r"(from.data()) : KEEPS_BUT_VECTORS);                        \
    }                                                                                              \
    values after_##name(values const& before, void (*call)(void*), void* argument) {               \
        values found{};                                                                            \
        asm volatile(                                                                              \
            LOAD CALL STORE                                                                        \
            : "+D"(call), "+S"(argument)                                                           \
            : [from] "r"(before.data()), [to] "r"(found.data()), [keep] "r"(&tulle_keep_vectors)   \
            : KEEPS_BUT_VECTORS);                                                                  \
        return found;                                                                              \
    }
OF_SIZE(sse, LOAD_SSE, STORE_SSE)
OF_SIZE(avx, LOAD_AVX, STORE_AVX)
OF_SIZE(avx512, LOAD_AVX512, STORE_AVX512)

std::array<register_file, 3> all_sizes() {
    bool const has_masks = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    return {
        register_file{"SSE", 16U * 16, true, &load_sse, &after_sse},
        register_file{"AVX", 16U * 32, __builtin_cpu_supports("avx") != 0, &load_avx, &after_avx},
        register_file{"AVX-512", k_most_bytes, has_masks, &load_avx512, &after_avx512}};
}

// What is called: it leaves other values in all registers.
struct spoiler {
    register_file const* registers;
    values others;
    unsigned times = 0;
};
void spoil(void* argument) {
    auto& own = *static_cast<spoiler*>(argument);
    ++own.times;
    own.registers->load(own.others);
}

// Below the frames that follow are no zeros any more.
__attribute__((noinline)) void use_stack() {
    std::array<unsigned char, 16384> used;
    used.fill(0xFF);
    asm volatile("" : : "r"(used.data()) : "memory");
}

void expect_kept(register_file const& registers, values const& wanted) {
    SCOPED_TRACE(registers.name);
    spoiler other{&registers, numbered(77), 0};
    use_stack();
    values const found = registers.after(wanted, &spoil, &other);
    EXPECT_EQ(other.times, 1U);
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), registers.bytes), 0);
}

TEST(vector_registers, are_kept_over_a_call) {
    for (register_file const& each : all_sizes())
        if (each.is_there) expect_kept(each, numbered(1));
}

// Which the processor may note as registers in their initial state, and save nothing of.
TEST(vector_registers, are_kept_where_they_are_zero) {
    for (register_file const& each : all_sizes())
        if (each.is_there) expect_kept(each, values{});
}

TEST(vector_registers, of_the_x87_are_kept_too) {
    double const pi = 3.25, two = 2;
    double first = 0, second = 0;
    void (*call)(void*) = [](void*) {
        asm volatile("fninit\n\tfldz\n\tfldz\n\tfldz" : : : "memory");
    };
    void* argument = nullptr;
    asm volatile("fldl %[pi]\n\tfldl %[two]\n\t" CALL "fstpl %[second]\n\tfstpl %[first]"
                 : "+D"(call), "+S"(argument), [first] "=m"(first), [second] "=m"(second)
                 : [pi] "m"(pi), [two] "m"(two), [keep] "r"(&tulle_keep_vectors)
                 : KEEPS_BUT_VECTORS);
    EXPECT_EQ(first, pi);
    EXPECT_EQ(second, two);
}

TEST(vector_registers, are_kept_around_what_is_given) {
    int volatile seen = 0;
    tulle::arch::keeping_vectors([&seen] { seen = 5; });
    EXPECT_EQ(seen, 5);
}

} // namespace
