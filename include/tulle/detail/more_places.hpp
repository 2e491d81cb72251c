// SPDX-License-Identifier: Apache-2.0
// Places of one host that `tulle run` starts while the program runs, for interfaces whose processes
// are made so.
#pragma once

#include <tulle/detail/visibility.h>

namespace tulle::detail {

// First, before the run time starts: so many there may be, with those of the start; each place says
// the same. Then place_count() is that number, and a place that is not there must have been started
// before anybody names it.
TULLE_API void let_places_be_started(int most) noexcept;
[[nodiscard]] TULLE_API int places_at_start(); // also of other hosts
// Returns when it takes part. An errno value; ENOTSUP: `tulle run` has not started the places of
// this host; ECHILD: it has ended. Any thread; its OS thread waits.
[[nodiscard]] TULLE_API int start_place(int index) noexcept;

} // namespace tulle::detail
