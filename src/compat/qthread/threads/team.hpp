// SPDX-License-Identifier: Apache-2.0
// Teams: qthreads that are waited for together. The first one leads; its result is delivered when
// all other members have ended, and the leaders of the subteams that members have forked. A qthread
// that asks for none is of its parent's team.
#pragma once

namespace tulle::compat {

struct team;
struct task;

struct membership {
    team* of = nullptr; // null: the default team
    bool leads = false;
};

// Before the thread starts, by its parent (null: it has no task): what its membership will be.
[[nodiscard]] int enter_team(membership& m, task const* parent, unsigned flags) noexcept;
// It could not be started.
void abandon_team(membership& m) noexcept;
// By the thread, at its end; a leader waits for the others.
void leave_team(membership& m) noexcept;

} // namespace tulle::compat
