// SPDX-License-Identifier: Apache-2.0
// `tulle run --ucontext`: the library of src/compat/ucontext in the environment of a program.
#pragma once

namespace tulle::tool {

// What follows --ucontext= for programs whose contexts need no signal masks of their own.
inline constexpr char const* k_no_masks = "no-masks";

// Programs that are started from now on load the library before all others. Throws failure: it is
// not installed, or not for this architecture.
void preload_ucontext(bool without_masks);

} // namespace tulle::tool
