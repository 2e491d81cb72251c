// SPDX-License-Identifier: Apache-2.0
// Threads that do not begin before they are given to a run queue, and these queues: one for each
// worker. They are the program's to look at and to rearrange. A thread that is put into one comes
// with a ticket, a native thread: whichever worker runs that takes a thread from its own queue,
// else the one that the program's steal function says, else one of any queue, and starts it. So
// there are never fewer tickets than threads in queues, and none is forgotten whatever the program
// does; a ticket ends without a thread only where all queues are empty at one moment
// (take_from_all.hpp).
#pragma once

#include "compat/myth/thread.hpp"

namespace tulle::myth {

// By who starts and ends; nobody else calls anything meanwhile.
void open_run_queues();
void close_run_queues() noexcept;

// As `make`, but it is not to begin yet.
[[nodiscard]] int make_late(myth_thread_t& made, myth_func_t function, void* argument,
                            myth_thread_attr_t const* attr, void const* site) noexcept;
// Of a thread that was made so. False: it has begun, and can be detached like any other.
[[nodiscard]] bool detach_late(myth_thread_t th) noexcept;

} // namespace tulle::myth
