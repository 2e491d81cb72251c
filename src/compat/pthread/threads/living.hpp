// SPDX-License-Identifier: Apache-2.0
// How many threads there are: main, those of ours, and those of pthread_create that stay the C
// library's. The process ends with the last of them, as POSIX has it; the C library itself would
// wait for the run time's workers, too.
#pragma once

namespace tulle::posix::living {

// Of an OS thread.
void add() noexcept;
void end_one() noexcept;
// The same with the lock of the blocks held, which guards the number, as a thread of ours is
// counted where it gets a block. True: it was the last one, and tell_of_last is called without the
// lock.
void add_one() noexcept;
[[nodiscard]] bool remove_one() noexcept;
void tell_of_last() noexcept;
[[noreturn]] void exit_with_last();

// By whoever makes a thread: from now on the end of main is noted, however it comes, and ends the
// process with the last thread. In a forked child the thread that has called fork is main. False:
// it is not noted, as there are no more keys.
bool expect_end_of_main() noexcept;
// Likewise of the calling OS thread, which has been counted by add. False: it has to call end_one.
[[nodiscard]] bool expect_own_end() noexcept;
// By main, which ends and is not expected to.
void end_main() noexcept;
// The run time has started; main may have ended.
void begin_to_watch() noexcept;
// In a forked child there is one thread.
void forget_others() noexcept;

} // namespace tulle::posix::living
