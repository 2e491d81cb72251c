// SPDX-License-Identifier: Apache-2.0
// Says which thread it was when a stack overflows. A handler of SIGSEGV, on the stack that workers
// have for handlers, which any fault reaches:
// where it may be an overflow, a copy of the process writes about it; then the program ends by the
// same signal as it would have without. Linux reports guard pages by SIGSEGV, never by SIGBUS.
#pragma once

namespace tulle::diag {

// From now on. No effect when the program, or a sanitizer, handles SIGSEGV itself or ignores it.
// Both by one thread at a time.
void explain_overflows() noexcept;
void stop_explaining_overflows() noexcept;

} // namespace tulle::diag
