// SPDX-License-Identifier: Apache-2.0
// When a report is written: at a deadlock, by whoever has found it, and whenever the process is asked to by SIGQUIT.
#pragma once

#include <cstdint>

namespace tulle::diag {

enum class deadlock_action : std::uint8_t { off, warn, abort };

// What settings::on_deadlock is to be; null: nothing. Decides for the whole process.
[[nodiscard]] void (*watch(deadlock_action action) noexcept)() noexcept;

// Whether SIGQUIT shall write a report, too. Does nothing when the program has a handler of its own.
void answer_requests(bool wanted) noexcept;

} // namespace tulle::diag
