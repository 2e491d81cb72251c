// SPDX-License-Identifier: Apache-2.0
// The library that a thread begins in, where that says how its threads wait.
#pragma once

namespace tulle::posix {

// Threads that begin there wait by system calls in their own code, which nobody can stand in for:
// each such wait would be a worker's. Those of OpenMP as gcc has it (libgomp) do. Any OS thread.
[[nodiscard]] bool waits_by_system_calls(void* (*start)(void*)) noexcept;

} // namespace tulle::posix
