// SPDX-License-Identifier: Apache-2.0
// What a copy of the process (os/child_program.hpp) does that was made to write a report, in a
// signal handler or beside threads that go on: nothing else runs in it, so it may read everything,
// and whatever goes wrong in it cannot hurt the program.
#pragma once

namespace tulle::diag {

// Called in the copy: runs write(argument) on a stack of its own, as that of the handler is small;
// then the copy ends. It also ends when it crashes, and when it takes minutes, as it does when it
// waits for a lock that nobody is there to release.
[[noreturn]] void write_and_end_copy(void (*write)(void* argument), void* argument) noexcept;

// Makes a copy that does so, and goes on at once. False: there is none.
[[nodiscard]] bool write_in_copy(void (*write)(void* argument), void* argument) noexcept;
// Takes those that have ended from the kernel. Others may be made meanwhile.
void await_copies() noexcept;
// In a forked child: they are the parent's.
void forget_copies() noexcept;

// In the copy: closes what the program has open but for its standard error and `output`, as others
// may wait for the end of that.
void close_all_but(int output) noexcept;

} // namespace tulle::diag
