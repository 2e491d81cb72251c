// SPDX-License-Identifier: Apache-2.0
// For interfaces whose programs keep data for each worker, by its number: a thread that is about to
// block its worker lends the number to a stand-in, which runs other threads meanwhile.
#pragma once

#include <tulle/detail/visibility.h>

namespace tulle::detail {

// Called by a thread on a worker. Returns the index of that worker, for take_number_back; -1: the
// caller is on no worker, or on one that has no number or has lent it, or threads run in an order
// that a seed gives. Where there may be no more workers other threads wait.
[[nodiscard]] TULLE_API int lend_number() noexcept;
// The thread has the number of its worker again, or goes on on another worker, like a thread that
// yields: while something that runs on the stand-in may know the number, the worker runs nothing.
TULLE_API void take_number_back(int lender) noexcept;
// On a stand-in the index of the worker whose number it has; -1: the caller is on no stand-in, or
// on one that has no number.
[[nodiscard]] TULLE_API int lent_number() noexcept;

} // namespace tulle::detail
