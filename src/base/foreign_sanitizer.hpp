// SPDX-License-Identifier: Apache-2.0
// A sanitizer that the program is compiled with and this library is not.
#pragma once

namespace tulle::base {

// ThreadSanitizer does not know of threads that switch.
[[nodiscard]] bool has_foreign_thread_sanitizer() noexcept;
// What follows from it and what to do, in a sentence; nullptr: there is none.
[[nodiscard]] char const* warning_of_foreign_sanitizer() noexcept;

} // namespace tulle::base
