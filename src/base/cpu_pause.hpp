// SPDX-License-Identifier: Apache-2.0
// A hint to the processor that the caller spins. This is the only file below `os` and `arch` that
// asks for the architecture: `base` cannot include upwards, and the hint must be inline.
#pragma once

#include <tulle/detail/cpu_pause.hpp>

namespace tulle::base {

using detail::cpu_pause;

} // namespace tulle::base
