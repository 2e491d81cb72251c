// SPDX-License-Identifier: Apache-2.0
//
// The switch for SPARC V8 without an operating system's libraries, which distributions have for V9
// processors only: two contexts recurse and take turns on every level. Prints one line and ends
// with status 0 if each got what it would have got alone.
#include "arch/asm_backend.hpp"

#include <cstddef>
#include <cstdint>

extern "C" long system_call(long a, long b, long c, long number) noexcept;
extern "C" int program() noexcept;

// The stack pointer of a new process needs the 24 words of a frame below it; system calls are trap
// 0x10 with their number in %g1.
asm(R"(
    .text
    .globl _start
_start:
    mov 0, %fp
    sub %sp, 96, %sp
    call program
    nop
    mov 1, %g1
    ta 0x10
    nop
    .globl system_call
system_call:
    mov %o3, %g1
    ta 0x10
    retl
    nop
)");

extern "C" void* memset(void* to, int value, std::size_t count) noexcept {
    for (auto* at = static_cast<unsigned char volatile*>(to); count > 0; --count)
        *at++ = static_cast<unsigned char>(value);
    return to;
}

namespace {

using backend = tulle::arch::asm_backend;

constexpr unsigned k_depth = 100;
constexpr int k_turns = 20'000;

struct fiber {
    backend::context context, caller;
    alignas(16) unsigned char stack[65536];
    unsigned seed;
    int finished, wrong;
};

fiber g_fibers[2];

[[gnu::noinline]] unsigned recurse(unsigned depth, unsigned value, fiber* yielding) {
    unsigned volatile const own = value ^ depth;
    if (yielding != nullptr && depth % 4 == 0)
        backend::switch_to(yielding->context, yielding->caller);
    unsigned const below = depth == 0 ? value : recurse(depth - 1, value * 3 + 1, yielding);
    return below + own;
}

void run(void* argument) {
    auto& self = *static_cast<fiber*>(argument);
    while (true) {
        if (recurse(k_depth, self.seed, &self) != recurse(k_depth, self.seed, nullptr))
            ++self.wrong;
        ++self.finished;
        ++self.seed;
    }
}

template <std::size_t Size> void print(char const (&text)[Size]) {
    system_call(1, reinterpret_cast<long>(text), Size - 1, 4);
}

} // namespace

int program() noexcept {
    for (auto& f : g_fibers) backend::make(f.context, f.stack, sizeof f.stack, &run, &f);
    g_fibers[1].seed = 7;
    for (int k = 0; k < k_turns; ++k) {
        for (auto& f : g_fibers) backend::switch_to(f.caller, f.context);
    }
    bool const right = g_fibers[0].wrong + g_fibers[1].wrong == 0 &&
                       g_fibers[0].finished > k_turns / (static_cast<int>(k_depth) / 4 + 2) &&
                       g_fibers[0].finished == g_fibers[1].finished;
    if (right) print("V8: right\n");
    if (!right) print("V8: wrong\n");
    return right ? 0 : 1;
}
