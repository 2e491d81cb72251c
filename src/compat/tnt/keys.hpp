// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tulle::tnt {

// Calls the destructors for the values of the calling thread, in rounds as long as they store new
// ones, as POSIX has it: before somebody joins the thread.
void end_values();

} // namespace tulle::tnt
