// SPDX-License-Identifier: Apache-2.0
// What a copy of the process (os/child_program.hpp) does that was made in a signal handler to write
// a report: nothing else runs in it, so it may read everything, and whatever goes wrong in it
// cannot hurt the program.
#pragma once

namespace tulle::diag {

// Called in the copy: runs write(argument) on a stack of its own, as that of the handler is small;
// then the copy ends. It also ends when it crashes, and when it takes minutes, as it does when it
// waits for a lock that nobody is there to release.
[[noreturn]] void write_and_end_copy(void (*write)(void* argument), void* argument) noexcept;

} // namespace tulle::diag
