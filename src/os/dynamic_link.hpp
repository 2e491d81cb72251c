// SPDX-License-Identifier: Apache-2.0
// How the dynamic linker binds the program's calls into shared libraries.
#pragma once

#include <link.h>

namespace tulle::os {

// Whether all calls of the program into shared libraries were bound at its start: linked with `-z
// now`, started with LD_BIND_NOW, or static.
// Otherwise the first call of each function runs the linker on the caller's stack, which takes
// several KiB.
[[nodiscard]] bool binds_at_start() noexcept;

// Whether a dynamic section, ended by DT_NULL, asks for that.
[[nodiscard]] bool binds_at_start(ElfW(Dyn) const* section) noexcept;

} // namespace tulle::os
