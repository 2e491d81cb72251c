// SPDX-License-Identifier: Apache-2.0
//
// Large stacks for the peers of Tulle, on deep work. Only what is used of them takes memory.
#pragma once

#include <cstddef>
#include <functional>

namespace examples {

inline constexpr std::size_t k_large_stack = std::size_t{1} << 30U;

// Calls body on an OS thread with a stack of k_large_stack bytes, and waits for it. body must not
// throw.
void run_on_large_stack(std::function<void()> const& body);

// Lets the threads of OpenMP have such stacks: it takes their size from the environment before
// main() starts, so the program starts itself again, once. Nothing where the user has set a size.
void request_large_openmp_stacks(char** argv);

} // namespace examples
