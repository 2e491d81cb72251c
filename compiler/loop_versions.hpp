// SPDX-License-Identifier: Apache-2.0
// Two versions of loops that load pointers again in each turn: one for the case that no store of
// the loop changes them, in which they are loaded ahead of it, so that what is accessed by them can
// be checked there, and the loop as it was.
#pragma once

#include "accesses.hpp"
#include "synchronisation.hpp"

#include "llvm/IR/PassManager.h"

namespace tulle::compiler {

// Returns whether it has changed the function. Afterwards its analyses are out of date. `left`: of
// loads that the loop as it was has in common with what is loaded ahead. They need no check unless
// a later pass finds that nobody uses the other one, so they are left to what is checked last.
bool make_loop_versions(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                        synchronisation const& synchronises, chosen_checks chosen,
                        accesses_left& left);

} // namespace tulle::compiler
