// SPDX-License-Identifier: Apache-2.0
// Static variables of functions of C++, which whoever comes first constructs.
#pragma once

#include "llvm/IR/Module.h"

namespace tulle::compiler {

// Where the variables are coherent memory, the run time guards them, as the library of C++ would do
// it in the copy of each host. Before anything asks which functions synchronise.
void guard_static_locals(llvm::Module& module);

} // namespace tulle::compiler
