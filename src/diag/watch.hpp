// SPDX-License-Identifier: Apache-2.0
// What is done at a deadlock, by the OS thread that has found it.
#pragma once

#include <cstdint>

namespace tulle::diag {

enum class deadlock_action : std::uint8_t { off, warn, abort };

// What settings::on_deadlock is to be; null: nothing. Decides for the whole process.
[[nodiscard]] void (*watch(deadlock_action action) noexcept)() noexcept;

} // namespace tulle::diag
