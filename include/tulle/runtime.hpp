// SPDX-License-Identifier: Apache-2.0
// Starting and stopping the run time. Both are optional: the first use starts it, the end of the
// process ends it.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tulle {

// Zero: what was chosen last, else what the environment says (TULLE_WORKERS, TULLE_STACK_SIZE,
// ...), else the default; see `tulle info`.
struct options {
    // OS threads that run threads; 0: one for each processor that this process may use, fewer under
    // a CPU quota.
    int workers = 0;
    std::size_t stack_size = 0; // bytes of a thread's own stack
};

// Starts the workers; the calling OS thread becomes worker 0, is the one that may finalize, and
// must before it ends (the process may end without). Only in a child process that a Tulle thread
// has forked the caller does not become a worker; then any thread may finalize. On x86 the caller
// has the flag FE_INEXACT then, as all threads have when they begin.
// Errors: std::system_error: running already (EALREADY), options out of range or more workers than
// max_workers (EINVAL), no memory (ENOMEM), no OS threads (EAGAIN).
TULLE_API void initialize(options const& chosen = {});

// Ends the workers and gives all memory back; may be followed by another initialize. Forked
// children, and threads with a handle, must have been joined, detached ones have ended or be about
// to. Errors: std::system_error: threads are alive (EBUSY), the caller is not the thread that
// initialized (EPERM), not running (EINVAL). After an error the run time goes on.
TULLE_API void finalize();

// Human-readable: how many threads are alive, and for the first few id, name and whether they run,
// as far as that is known from outside; they go on meanwhile. what() of finalize's EBUSY says the
// same.
[[nodiscard]] TULLE_API std::string live_threads();

// Whether the run time is running.
[[nodiscard]] TULLE_API bool is_initialized() noexcept;

// Start the run time if need be. The maximum is fixed at the start: the option max_workers, by
// default the number of processors of the machine.
[[nodiscard]] TULLE_API int worker_count();
[[nodiscard]] TULLE_API int max_worker_count();
// Indices of workers (this_thread::worker_index) are below it: the maximum, and the option
// max_substitutes, as workers may run in place of those that sit in the kernel or compute while
// others wait. Fixed at the start, too: so long are arrays with an element for each worker.
[[nodiscard]] TULLE_API int worker_slot_count();
[[nodiscard]] TULLE_API int shepherd_count();

// Changes the number of workers while threads run; by any thread, whose stack must not be a compact
// one. 0: as many as the affinity mask of the process's first thread and the CPU quota call for
// now, on the processors of that mask. Starts the run time if need be.
// Returns at once. A worker that is one too many finishes what it runs until that waits, ends, or
// yields a while; what else it has is stolen or handed over, and then it sleeps at no cost until it
// is wanted again. Threads that were placed at a shepherd run anywhere as long as it has no worker.
// Worker 0 stays. A deterministic run keeps to one.
// Where programs share the processors of the machine (<tulle/cpus.hpp>) it says how many this one
// wants at most.
// Memory ordering: none.
// Errors, after which the number is as it was: std::system_error: not from 0 to max_worker_count()
// (EINVAL), no memory (ENOMEM), no OS threads (EAGAIN), the run time ends (EBUSY).
TULLE_API void set_worker_count(int wanted);

// Sets an option by its name, as on the command line; before the run time starts.
// Errors: std::invalid_argument: the name is unknown or the value makes no sense; std::system_error
// (EALREADY): running;
// std::bad_alloc.
TULLE_API void set_option(std::string_view name, std::string_view value);

} // namespace tulle
