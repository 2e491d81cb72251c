// SPDX-License-Identifier: Apache-2.0
// membarrier(2), PRIVATE_EXPEDITED and GLOBAL_EXPEDITED: one thread pays for a full fence on every
// running thread of the process, so that the other side of a store-load handshake needs a compiler
// barrier only.
#pragma once

namespace tulle::os {

// Registers the process; cheap to repeat. False where the kernel has no such call or a seccomp
// filter refuses it: both sides of each handshake must then use a real fence.
[[nodiscard]] bool membarrier_register() noexcept;

// Whether membarrier_register() has returned true.
[[nodiscard]] bool membarrier_available() noexcept;

// Memory ordering: between the call and its return every running thread of this process executes a
// full fence; a thread that does not run then, had one when it was scheduled out. Only after
// membarrier_register() returned true; about 2 us.
void membarrier_heavy() noexcept;

// Registers the process for handshakes with threads of other processes on this host; cheap to
// repeat. False: see membarrier_register().
[[nodiscard]] bool membarrier_register_global() noexcept;

// Whether membarrier_register_global() has returned true.
[[nodiscard]] bool membarrier_global_available() noexcept;

// Memory ordering: as membarrier_heavy(), for every running thread of every process that takes
// part. Only after membarrier_register_global() returned true.
void membarrier_global_heavy() noexcept;

} // namespace tulle::os
