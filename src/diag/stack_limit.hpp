// SPDX-License-Identifier: Apache-2.0
// Why there is no stack for another thread, and what would help.
#pragma once

#include "diag/text_output.hpp"
#include "sched/scheduler.hpp"

namespace tulle::diag {

// Sentences for a report, each on a line of its own.
void print_stack_limit(text_output& out, sched::scheduler& scheduler) noexcept;

} // namespace tulle::diag
