// SPDX-License-Identifier: Apache-2.0
// Starting and stopping the run time. Both are optional: the first use starts it, the end of the process ends it.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tulle {

// Zero: what the environment says (TULLE_WORKERS, TULLE_STACK_SIZE, ...), else the default. `tulle info` lists all options.
struct options {
    int workers = 0;            // OS threads that run threads; 0: one for each processor that this process may use
    std::size_t stack_size = 0; // bytes of a thread's own stack
};

// Starts the workers; the calling OS thread becomes worker 0, is the one that may finalize, and must before it ends (the process may end
// without). Only in a child process that a Tulle thread has forked the caller does not become a worker; then any thread may finalize.
// Errors: std::system_error: running already (EALREADY), options out of range (EINVAL), no memory (ENOMEM), no OS threads (EAGAIN).
TULLE_API void initialize(options const& chosen = {});

// Ends the workers and gives all memory back; may be followed by another initialize. Forked children, and threads with a handle, must
// have been joined, detached ones have ended or be about to. Errors: std::system_error: threads are alive (EBUSY), the caller is not the thread that
// initialized (EPERM), not running (EINVAL). After an error the run time goes on.
TULLE_API void finalize();

// For people: how many threads are alive, and for the first few id, name and whether they run, as far as that is known from outside; they go
// on meanwhile. what() of finalize's EBUSY says the same.
[[nodiscard]] TULLE_API std::string live_threads();

[[nodiscard]] TULLE_API bool is_initialized() noexcept;

// Starts the run time if need be.
[[nodiscard]] TULLE_API int worker_count();
[[nodiscard]] TULLE_API int shepherd_count();

// Sets an option by its name, as on the command line; before the run time starts.
// Errors: std::invalid_argument: the name is unknown or the value makes no sense; std::system_error (EALREADY): running.
TULLE_API void set_option(std::string_view name, std::string_view value);

} // namespace tulle
