// SPDX-License-Identifier: Apache-2.0
//
// Where contexts go: in turn, along uc_link, twice to one place, with arguments, by exceptions.
#include "cases.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace cases {
namespace {

ucontext_t s_main;
std::array<ucontext_t, 3> s_contexts;

// ---- generators: values that contexts hand to main in turn

int s_value = 0;

void count_by(int which, int step) {
    for (int k = 1; k <= 4; ++k) {
        s_value = k * step;
        swapcontext(&s_contexts.at(static_cast<std::size_t>(which)), &s_main);
    }
    s_value = -which;
}

void generators() {
    std::array<stack, 3> stacks;
    for (int k = 0; k < 3; ++k) {
        ucontext_t& made = s_contexts.at(static_cast<std::size_t>(k));
        getcontext(&made);
        stacks.at(static_cast<std::size_t>(k)).give_to(made);
        made.uc_link = &s_main;
        makecontext(&made, reinterpret_cast<void (*)()>(&count_by), 2, k, k * 10 + 1);
    }
    for (int turn = 0; turn < 5; ++turn) {
        for (ucontext_t& next : s_contexts) {
            std::printf("%d ", swapcontext(&s_main, &next));
            std::printf("%d\n", s_value);
        }
    }
}

// ---- a chain of uc_link, each context once

void say_first() { std::puts("first"); }
void say_second() { std::puts("second"); }
void say_third() { std::puts("third"); }

void links() {
    std::array<stack, 3> stacks;
    prepare(s_contexts[0], stacks[0], &s_main, &say_third);
    prepare(s_contexts[1], stacks[1], &s_contexts[0], &say_second);
    prepare(s_contexts[2], stacks[2], &s_contexts[1], &say_first);
    swapcontext(&s_main, &s_contexts[2]);
    std::puts("back");
}

// ---- arguments, ints and long ones, in registers and on the stack

void none() { std::puts("none"); }
void one(int a) { std::printf("%d\n", a); }
void six(int a, int b, int c, int d, int e, int f) {
    std::printf("%d %d %d %d %d %d\n", a, b, c, d, e, f);
}
void seven(int a, int b, int c, int d, int e, int f, int g) {
    std::printf("%d %d %d %d %d %d %d\n", a, b, c, d, e, f, g);
}
void ten(long a, char const* b, long c, long d, long e, long f, long g, long h, char const* i,
         long j) {
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::printf("%lx %s %ld %ld %ld %ld %ld %ld %s %lx, aligned %d\n", a, b, c, d, e, f, g, h, i, j,
                here % 16 == 0);
}

template <class Function, class... Arguments> void call(Function* entry, Arguments... arguments) {
    stack memory;
    ucontext_t made;
    getcontext(&made);
    memory.give_to(made);
    made.uc_link = &s_main;
    makecontext(&made, reinterpret_cast<void (*)()>(entry), sizeof...(arguments), arguments...);
    swapcontext(&s_main, &made);
}

void arguments() {
    call(&none);
    call(&one, -1);
    call(&six, 1, -2, 3, -4, 5, -6);
    call(&seven, 1, -2, 3, -4, 5, -6, 7);
    call(&ten, 0x123456789abcdef0, "text", 3L, -4L, 5L, -6L, 7L, -8L, "more text",
         static_cast<long>(0xfedcba9876543210));
}

// ---- getcontext returns again, from the context and from a copy of it

void again() {
    ucontext_t saved;
    int volatile count = 0;
    int const result = getcontext(&saved);
    count = count + 1;
    std::printf("%d: getcontext gave %d\n", count, result);
    if (count < 3) setcontext(&saved);
    ucontext_t const copy = saved;
    if (count < 5) setcontext(&copy);
}

// ---- exceptions are thrown and caught within a context, with others in between

void throw_and_catch(int which) {
    ucontext_t& self = s_contexts.at(static_cast<std::size_t>(which));
    for (int k = 0; k < 3; ++k) {
        try {
            swapcontext(&self, &s_main);
            throw std::runtime_error("context " + std::to_string(which));
        } catch (std::runtime_error const& caught) {
            std::printf("%s caught %s\n", std::to_string(k).c_str(), caught.what());
        }
    }
}

void exceptions() {
    std::array<stack, 2> stacks;
    for (int k = 0; k < 2; ++k) {
        ucontext_t& made = s_contexts.at(static_cast<std::size_t>(k));
        getcontext(&made);
        stacks.at(static_cast<std::size_t>(k)).give_to(made);
        made.uc_link = &s_main;
        makecontext(&made, reinterpret_cast<void (*)()>(&throw_and_catch), 1, k);
    }
    for (int turn = 0; turn < 4; ++turn)
        for (int k = 0; k < 2; ++k)
            swapcontext(&s_main, &s_contexts.at(static_cast<std::size_t>(k)));
}

// ---- recursion that switches at each level, in two contexts at once

long descend(int which, int depth) {
    swapcontext(&s_contexts.at(static_cast<std::size_t>(which)), &s_main);
    return depth == 0 ? which : 1 + descend(which, depth - 1);
}

void recurse(int which) { std::printf("depth %ld\n", descend(which, 500)); }

void recursion() {
    std::array<stack, 2> stacks;
    for (int k = 0; k < 2; ++k) {
        ucontext_t& made = s_contexts.at(static_cast<std::size_t>(k));
        getcontext(&made);
        stacks.at(static_cast<std::size_t>(k)).give_to(made);
        made.uc_link = &s_main;
        makecontext(&made, reinterpret_cast<void (*)()>(&recurse), 1, k);
    }
    for (int turn = 0; turn < 502; ++turn)
        for (int k = 0; k < 2; ++k)
            swapcontext(&s_main, &s_contexts.at(static_cast<std::size_t>(k)));
}

// ---- a function that returns without uc_link ends the process, after the functions of atexit

void end() {
    static stack& memory = *new stack; // the functions of atexit run on it
    std::atexit([] { std::puts("at exit"); });
    prepare(s_contexts[0], memory, nullptr, &say_first);
    swapcontext(&s_main, &s_contexts[0]);
    std::puts("never");
}

named_case const s_generators("generators", &generators);
named_case const s_links("links", &links);
named_case const s_arguments("arguments", &arguments);
named_case const s_again("again", &again);
named_case const s_exceptions("exceptions", &exceptions);
named_case const s_recursion("recursion", &recursion);
named_case const s_end("end", &end);

} // namespace
} // namespace cases
