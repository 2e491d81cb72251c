// SPDX-License-Identifier: Apache-2.0
//
// The version of the library that the program runs with; TULLE_VERSION_* are those of the headers
// it was compiled with.
#pragma once

#include <tulle/c/version.h>
#include <tulle/detail/visibility.h>

namespace tulle {

// The linked library's version as "major.minor.patch". May be called at any time, by any thread.
[[nodiscard]] TULLE_API char const* version() noexcept;

} // namespace tulle
