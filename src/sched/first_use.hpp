// SPDX-License-Identifier: Apache-2.0
// The calls that go up: the run time starts itself when a thread uses it for the first time.
// Implemented in runtime/, which knows the options.
#pragma once

namespace tulle::sched {

// Returns when the scheduler runs; may adopt the calling OS thread. 0, or the errno value that says
// why it cannot start.
[[nodiscard]] int start_on_first_use() noexcept;
// Whether it would start with a seed.
[[nodiscard]] bool seed_is_set();

} // namespace tulle::sched
