// SPDX-License-Identifier: Apache-2.0
// By which scheme the accesses of this program are checked, as its object files say when they
// start, one after the other.
#pragma once

#include "base/assert.hpp"
#include "dsm/coherent_host.hpp"

#include <cstdint>
#include <optional>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

inline std::optional<scheme> s_compiled_scheme; // none: nothing has checks

// False: some of the program was compiled for another one.
[[nodiscard]] inline bool compile_for(scheme by) noexcept {
    if (!s_compiled_scheme) s_compiled_scheme = by;
    return *s_compiled_scheme == by;
}
// What an object file says when it starts. Ends the program where it fits neither this library nor
// the object files before it.
inline void start_object(std::uint32_t abi, scheme by) noexcept {
    constexpr std::uint32_t k_version = (1U << TULLE_COHERENT_SCHEME_SHIFT) - 1;
    TULLE_CHECK((abi & k_version) == TULLE_COHERENT_ABI,
                "coherent memory: an object file was compiled for version %u of the interface, "
                "and this library has %u; compile it again with the `tulle cc` of this library",
                abi & k_version, TULLE_COHERENT_ABI);
    TULLE_CHECK(compile_for(by),
                "coherent memory: some object files of the program were compiled with another "
                "--scheme than others; compile all of them with the same --scheme");
}
[[nodiscard]] inline bool has_checks() noexcept { return s_compiled_scheme.has_value(); }
[[nodiscard]] inline scheme compiled_scheme() noexcept {
    return s_compiled_scheme.value_or(scheme::states);
}

} // namespace tulle::dsm
