// SPDX-License-Identifier: Apache-2.0
// Functions that run at another place in the thread that takes its messages there: at once, also
// while all its workers compute, but they must not wait.
// Source: active messages (von Eicken and others, ISCA 1992).
#pragma once

#include <tulle/detail/visibility.h>

#include <cstddef>
#include <span>

namespace tulle::detail {

// Reads the request, which lies as aligned as the answer, at a multiple of 16; writes the answer,
// for which there is as much room as for any, and returns its size.
using active_function = std::size_t (*)(int from, std::span<std::byte const> request,
                                        std::byte* answer) noexcept;

inline constexpr std::size_t k_most_active = 256; // bytes of a request, or of an answer

// Runs `f` there, or here, and waits for the answer: takes messages meanwhile, and sleeps if it
// takes long. The answer has the size that the caller expects. False: that place has died, or this
// process has left the others, or is the child of a fork.
[[nodiscard]] TULLE_API bool request_at(int place, active_function f,
                                        std::span<std::byte const> request,
                                        std::span<std::byte> answer) noexcept;

// Runs `f` there, or here, and does not wait. It is lost where the above is false. What is told may
// overtake what was told or asked before. Nothing bounds how much is under way, but the caller.
TULLE_API void tell_at(int place, active_function f, std::span<std::byte const> told) noexcept;

} // namespace tulle::detail
