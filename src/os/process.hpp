// SPDX-License-Identifier: Apache-2.0
// Whether another process is still the one that it was.
#pragma once

#include <cstdint>

namespace tulle::os {

// When a process started, in ticks since the system did: with its number that names it, as numbers
// are used again. 0: there is none, or it has ended and waits for its parent to notice, or the
// system does not say.
[[nodiscard]] std::uint64_t start_of_process(int process) noexcept;

// Processes with equal numbers of this kind see each other by the same process numbers; 0: the
// system does not say.
[[nodiscard]] std::uint64_t process_namespace() noexcept;

} // namespace tulle::os
