// SPDX-License-Identifier: Apache-2.0
// Code for programs in which races are looked for: the run time is told of each access before it
// happens, at its place in the program.
#pragma once

#include "check_writer.hpp"

namespace tulle::compiler {

// Before all other passes: none may then load what the program does not, as where a condition
// decides whether it does.
void keep_to_accesses_of_program(llvm::Module& module);

// Loads, stores, memcpy and its kin, and fences; masked ones have been split into lanes.
void tell_accesses(llvm::Function& function, chosen_checks chosen, llvm::ArrayRef<access> accesses,
                   check_writer& writer);

} // namespace tulle::compiler
