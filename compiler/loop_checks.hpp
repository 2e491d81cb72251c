// SPDX-License-Identifier: Apache-2.0
// Checks ahead of loops: one for all that an access touches while a loop, or a nest of loops, runs
// without synchronising. What they cover is marked.
#pragma once

#include "accesses.hpp"
#include "synchronisation.hpp"

#include "llvm/IR/PassManager.h"

namespace tulle::compiler {

// Returns whether it has changed the function. Afterwards its analyses are out of date. None of
// `left` is covered.
bool check_ahead_of_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                          synchronisation const& synchronises, chosen_checks chosen,
                          accesses_left const& left);

} // namespace tulle::compiler
