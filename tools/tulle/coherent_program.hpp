// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tulle::tool {

// Whether the program, found as a shell finds it, lies where variables are coherent memory
// (<tulle/coherent_abi.h>), as one does that was linked by `tulle cc --share-globals`. False: also
// where that cannot be known, as of a script.
[[nodiscard]] bool is_coherent_program(std::string const& name);

} // namespace tulle::tool
