// SPDX-License-Identifier: Apache-2.0
// What a thread can ask and do about itself. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/thread_core.hpp>

#include <string>
#include <string_view>

namespace tulle::this_thread {

// Lets other ready threads of this worker run first. Returns at once if there are none.
TULLE_API void yield() noexcept;

// Nonzero. A forked thread that runs as a function call in its parent has its parent's identity.
TULLE_API thread_id get_id();

// The name set at spawn or by set_name; empty if none. Errors of both: std::bad_alloc.
TULLE_API std::string name();
TULLE_API void set_name(std::string_view name);

// 0 .. worker_slot_count()-1; -1 on an OS thread that is no worker. May change at every wait
TULLE_API int worker_index() noexcept;
TULLE_API int shepherd_index() noexcept; // likewise

// The worker runs other threads meanwhile. A deadline in the past yields.
TULLE_API void sleep_until_ns(std::uint64_t deadline) noexcept;

// Sleeps while the worker runs other threads. A time that is over yields.
template <class Rep, class Period> void sleep_for(std::chrono::duration<Rep, Period> time) {
    sleep_until_ns(detail::deadline_after(time));
}
template <class Clock, class Duration>
void sleep_until(std::chrono::time_point<Clock, Duration> deadline) {
    sleep_until_ns(detail::deadline_at(deadline));
}

} // namespace tulle::this_thread
