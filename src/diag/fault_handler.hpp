// SPDX-License-Identifier: Apache-2.0
// Says which thread it was when a stack overflows, and lets other layers resolve faults, or explain
// them. A handler of SIGSEGV, on the stack that workers have for handlers, which any fault reaches:
// where it may be an overflow, a copy of the process writes about it; then the program ends by the
// same signal as it would have without. Linux reports guard pages by SIGSEGV, never by SIGBUS.
#pragma once

#include <cstdint>

namespace tulle::diag {

// Explains overflows from now on. No effect when the program, or a sanitizer, handles SIGSEGV
// itself or ignores it. One thread at a time calls these two.
void explain_overflows() noexcept;
void stop_explaining_overflows() noexcept;

// Asked first about each load or store that the protection of a page forbids: true: what faulted
// can be done again now. In the handler of the signal, on the thread that faults. What it does not
// resolve goes on to a handler that the program has installed before. False: errno says why SIGSEGV
// cannot be handled.
using fault_resolver = bool (*)(std::uintptr_t address) noexcept;
[[nodiscard]] bool resolve_faults_by(fault_resolver resolve) noexcept;

// Writes what it knows of a fault that is no overflow, at that address, to `output`; in a copy of
// the process. Null: nobody does.
using fault_explainer = void (*)(std::uintptr_t address, int output) noexcept;
void explain_others_by(fault_explainer explain) noexcept;

} // namespace tulle::diag
