// SPDX-License-Identifier: Apache-2.0
// Unwinds one frame of a stack that does not run, by the call frame information that compilers emit
// for exceptions. Unlike the unwinder of the C++ run time it reads nothing outside of the given
// stack, starts from any set of registers, and takes no lock and no memory: it may be used on a
// stack that changes meanwhile (the result is nonsense then, but it ends), and in a signal handler.
// Sources: DWARF 5, section 6.4; Linux Standard Base 5, section 10.6 (.eh_frame).
#pragma once

#include "arch/registers.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::diag {

// The bytes that may be read.
struct stack_range {
    std::uintptr_t low = 0, high = 0;

    // False: not in it.
    [[nodiscard]] bool read(std::uintptr_t address, std::uintptr_t& word) const noexcept;
};

enum class frame_step : std::uint8_t { call, interrupted, end };

// Goes from a frame to its caller's. `is_call`: the pc is a return address, so the call before it
// is what counts. end: this was the last frame, or nothing is known of this pc. interrupted: the
// caller's frame was interrupted by a signal.
[[nodiscard]] frame_step to_caller(arch::registers& r, stack_range const& stack,
                                   bool is_call) noexcept;

// Whether a pc is in the function that begins at this address, as far as that is known.
[[nodiscard]] bool is_in_function(std::uintptr_t pc, std::uintptr_t begin) noexcept;

} // namespace tulle::diag
