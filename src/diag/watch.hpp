// SPDX-License-Identifier: Apache-2.0
// What is done when threads stand still, by the OS thread that has found it.
#pragma once

#include "sched/scheduler.hpp"

#include <cstdint>

namespace tulle::diag {

enum class deadlock_action : std::uint8_t { off, warn, abort };

// What settings::on_deadlock is to be; null: nothing. Decides for the whole process.
[[nodiscard]] void (*watch(deadlock_action action) noexcept)(sched::standstill found) noexcept;

// settings::awaits_signal: whether there is a handler of os::handled_signals that is not the
// library's.
[[nodiscard]] bool awaits_signal() noexcept;

// settings::find_circle (circle_finder.hpp).
[[nodiscard]] sched::circle_search find_circle() noexcept;

} // namespace tulle::diag
