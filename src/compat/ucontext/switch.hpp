// SPDX-License-Identifier: Apache-2.0
//
// What the assembly and the C++ of this library know of each other. The four functions of
// <ucontext.h> are in arch/ARCHITECTURE, all but makecontext in assembly; these are the ways that
// it does not take itself.
#pragma once

#include <cstdint>

#include <ucontext.h>

#pragma GCC visibility push(hidden)
extern "C" {

/// Whether contexts have signal masks of their own, as POSIX wants; 0: no system calls for masks.
extern std::uint8_t tulle_ucontext_keeps_masks;

/// Where the function of a context returns to.
void tulle_ucontext_after_entry();

/// The function of a context has returned: goes on with `link`; null ends the process.
[[noreturn]] void tulle_ucontext_end(ucontext_t* link) noexcept;

/// The kernel has refused a mask. `result`: what it returned, an errno value below 0.
int tulle_ucontext_refused_mask(long result) noexcept;

/// setcontext and swapcontext to a context that this library has not saved. `from` has the
/// registers already, and no mask.
int tulle_ucontext_set_foreign(ucontext_t const* to) noexcept;
int tulle_ucontext_swap_to_foreign(ucontext_t* from, ucontext_t const* to) noexcept;
}
#pragma GCC visibility pop
