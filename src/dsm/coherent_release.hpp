// SPDX-License-Identifier: Apache-2.0
// A release for a caller that makes a fence anyway, such as an exchange of the word of its lock.
// Any thread, whether there are copies or not. Exported for the faces of other interfaces.
#pragma once

#include <tulle/detail/visibility.h>

namespace tulle::dsm {

// True: there is something to be released that takes a moment, and nothing has happened yet. The
// caller makes a full fence and calls release_behind_fence(), or tulle_coherent_release(). False:
// all has been released.
[[nodiscard]] TULLE_API bool begin_release() noexcept;
TULLE_API void release_behind_fence() noexcept;

} // namespace tulle::dsm
