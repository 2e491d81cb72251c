// SPDX-License-Identifier: Apache-2.0
// What no check can be written for is listed for `tulle cc --list` (list_section.hpp).
#pragma once

#include "llvm/IR/Module.h"

namespace tulle::compiler {

// Lines of words with tabs between them: "define FUNCTION", "local FUNCTION", "assembly CALLER
// PLACE", "atomic CALLER PLACE" ("wide CALLER PLACE" where races are looked for), "instruction NAME
// CALLER PLACE", and "call CALLEE CALLER PLACE" where memory is handed to a function of another
// object.
void list_uninstrumented(llvm::Module& module);

} // namespace tulle::compiler
