// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compat/qthread/library/process_fork.hpp"

namespace tulle::compat {

// At the end of the library: the limit is forgotten.
void end_futures() noexcept;
void futures_at_fork(fork_phase phase) noexcept;

} // namespace tulle::compat
