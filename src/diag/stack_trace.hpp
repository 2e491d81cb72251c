// SPDX-License-Identifier: Apache-2.0
// The calls on a stack, as addresses.
#pragma once

#include "arch/registers.hpp"
#include "diag/call_frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::diag {

// Innermost first. Each address lies inside of the call instruction, or is where the frame was
// stopped.
struct stack_trace {
    static constexpr std::size_t k_most = 64;

    std::array<std::uintptr_t, k_most> pcs{};
    std::size_t count = 0;
    bool cut = false; // there are more
};

// Unwinds from `registers` on; reads nothing outside of `stack`. May be called in a signal handler.
void unwind(arch::registers registers, stack_range const& stack, stack_trace& out) noexcept;

} // namespace tulle::diag
