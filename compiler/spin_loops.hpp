// SPDX-License-Identifier: Apache-2.0
// Loops in which a thread waits for what another one stores, and which nothing orders: they do
// nothing but load a variable that the loop itself does not change. Copies of coherent memory are
// brought up to date where a thread synchronises, so that such a loop may never end.
#pragma once

#include "llvm/IR/Module.h"

namespace tulle::compiler {

// Called ahead of all optimizations, which move loads out of loops. Adds to the list of
// list_section.hpp: "spin KIND CALLER PLACE", whose KIND is "plain" or "volatile".
void list_spin_loops(llvm::Module& module);

} // namespace tulle::compiler
