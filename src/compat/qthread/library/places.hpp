// SPDX-License-Identifier: Apache-2.0
// Which shepherds and workers are there, and which of them are enabled.
#pragma once

#include "compat/qthread/library/process_fork.hpp"

#include <cstddef>

namespace tulle::compat {

[[nodiscard]] std::size_t count_active_shepherds() noexcept;
[[nodiscard]] std::size_t count_active_workers() noexcept;
// The worker that the caller runs on, from 0 to the number at the start - 1; -1: none. A worker
// that stands in for one that is blocked counts as that.
[[nodiscard]] int worker_number() noexcept;
// At the start of the library, for the workers of these numbers.
void disable_workers_from(std::size_t first);
// At the end of the library.
void forget_places() noexcept;
void places_at_fork(fork_phase phase) noexcept;

} // namespace tulle::compat
