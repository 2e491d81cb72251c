// SPDX-License-Identifier: Apache-2.0
//
// Programs of <ucontext.h>: each is a function that prints what happens. conformance_test.py runs
// them upon the C library and upon libtulle-ucontext, and the output must be the same.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>

#include <ucontext.h>

namespace cases {

/// Registers itself; main.cpp runs the one that is named.
struct named_case {
    named_case(char const* name, void (*run)());
    char const* name;
    void (*run)();
    named_case* next;
};

/// The memory of a stack.
class stack {
public:
    void give_to(ucontext_t& context) {
        context.uc_stack.ss_sp = m_memory.get();
        context.uc_stack.ss_size = k_size;
    }

private:
    static constexpr std::size_t k_size = 256 * 1024;
    std::unique_ptr<std::max_align_t[]> m_memory{
        new std::max_align_t[k_size / sizeof(std::max_align_t)]};
};

/// A context that will call `entry` on this stack and go on with `link`.
inline void prepare(ucontext_t& made, stack& memory, ucontext_t* link, void (*entry)()) {
    if (getcontext(&made) != 0) std::perror("getcontext");
    memory.give_to(made);
    made.uc_link = link;
    makecontext(&made, entry, 0);
}

} // namespace cases
