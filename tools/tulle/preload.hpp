// SPDX-License-Identifier: Apache-2.0
// `tulle run --ucontext` and `tulle run --pthreads`: the libraries of src/compat/ucontext and
// src/compat/pthread in the environment of a program.
#pragma once

#include <string>

namespace tulle::tool {

// What follows --ucontext= for programs whose contexts need no signal masks of their own.
inline constexpr char const* k_no_masks = "no-masks";

// Programs that are started from now on load the library before all others. They throw failure: it
// is not installed, or not for this architecture. They warn where this program cannot load it.
void preload_ucontext(std::string const& program, bool without_masks);
void preload_pthreads(std::string const& program);

} // namespace tulle::tool
