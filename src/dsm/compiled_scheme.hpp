// SPDX-License-Identifier: Apache-2.0
// By which scheme the accesses of this program are checked, as its object files say when they
// start, one after the other.
#pragma once

#include "dsm/coherent_host.hpp"

#include <optional>

namespace tulle::dsm {

inline std::optional<scheme> s_compiled_scheme; // none: nothing has checks

// False: some of the program was compiled for another one.
[[nodiscard]] inline bool compile_for(scheme by) noexcept {
    if (!s_compiled_scheme) s_compiled_scheme = by;
    return *s_compiled_scheme == by;
}
[[nodiscard]] inline bool has_checks() noexcept { return s_compiled_scheme.has_value(); }
[[nodiscard]] inline scheme compiled_scheme() noexcept {
    return s_compiled_scheme.value_or(scheme::states);
}

} // namespace tulle::dsm
