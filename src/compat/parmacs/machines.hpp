// SPDX-License-Identifier: Apache-2.0
// Where the processes of the program are.
#pragma once

namespace tulle::parmacs {

// Called once by each process, when all have joined.
void look_at_machines() noexcept;
// Whether they are on several.
inline bool s_spans_machines = false; // written by look_at_machines
[[nodiscard]] inline bool spans_machines() noexcept { return s_spans_machines; }
[[nodiscard]] bool is_on_this_machine(int place) noexcept;

} // namespace tulle::parmacs
