// SPDX-License-Identifier: Apache-2.0
// Where the processes of the program are.
#pragma once

namespace tulle::parmacs {

// Called once by each process, when all have joined.
void look_at_machines() noexcept;
// Whether they are on several.
inline bool s_spans_machines = false; // written by look_at_machines
[[nodiscard]] inline bool spans_machines() noexcept { return s_spans_machines; }
// The option `coherent`: as if each process were on a machine of its own.
[[nodiscard]] bool has_private_copies() noexcept;
// Also where the program was not compiled by tulle cc.
[[nodiscard]] bool has_copies_by_pages() noexcept;
// Whether processes may be begun besides those of the start: there is one memory, and the place
// that manages it is there from the start.
[[nodiscard]] bool may_have_more_places() noexcept;
// Why the program `tulle`, which starts processes, could not be run: a value of errno. 0: it was,
// or there was no need.
inline int s_why_alone = 0; // written before main
[[nodiscard]] inline int why_alone() noexcept { return s_why_alone; }
[[nodiscard]] bool is_on_this_machine(int place) noexcept;
[[nodiscard]] int first_place_here() noexcept;

} // namespace tulle::parmacs
