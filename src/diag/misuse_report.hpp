// SPDX-License-Identifier: Apache-2.0
// Where a mistake was made that ends the program (base::fatal_misuse): the calls that led there, in
// a copy of the process, as whatever is wrong with the program may stop whoever writes.
#pragma once

namespace tulle::diag {

// From now on, where the architecture's stacks can be read.
void tell_where_misused() noexcept;
void stop_telling_where_misused() noexcept;

} // namespace tulle::diag
