// SPDX-License-Identifier: Apache-2.0
// Teams: qthreads that are waited for together. The first one leads; its result is delivered when
// all other members have ended, and the leaders of the subteams that members have forked. A qthread
// that asks for none is of its parent's team.
#pragma once

#include "compat/qthread/task.hpp"

namespace tulle::compat {

// Before the task starts; by its parent.
[[nodiscard]] int enter_team(task& t, unsigned flags) noexcept;
// It could not be started.
void abandon_team(task& t) noexcept;
// By the task, at its end; a leader waits for the others.
void leave_team(task& t) noexcept;

} // namespace tulle::compat
