// SPDX-License-Identifier: Apache-2.0
// How another process asks for a report: SIGQUIT with a value (sigqueue) that names a descriptor of
// the sender, to which the report is written. A SIGQUIT without it, from kill or the keyboard, has
// the report go to standard error. Shared with the program `tulle`.
#pragma once

#include <cstdint>

namespace tulle::diag {

// A process that answers has this name in /proc/PID/maps. To others SIGQUIT may mean death: do not
// send it.
inline constexpr char k_answering_mark[] = "tulle-reports";

// The upper half of a request's value; the descriptor is the lower half.
inline constexpr std::uint64_t k_request_magic = 0x74756C6C;

[[nodiscard]] constexpr std::uint64_t request_value(int descriptor) noexcept {
    return k_request_magic << 32U | static_cast<std::uint32_t>(descriptor);
}

} // namespace tulle::diag
