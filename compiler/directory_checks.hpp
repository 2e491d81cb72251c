// SPDX-License-Identifier: Apache-2.0
// Checks by the directory (tulle cc --scheme=directory): a load looks at what it has loaded, a
// store locks the tag of its line. Each access has its own, where it is.
#pragma once

#include "accesses.hpp"
#include "check_writer.hpp"

namespace tulle::compiler {

// Takes masked accesses apart, and gathers and scatters, into loads and stores of their lanes.
void split_lanes(llvm::Function& function);

void check_by_directory(llvm::Function& function, llvm::ArrayRef<access> accesses,
                        check_writer& writer);
// memcpy, memmove and memset, as intrinsics of the compiler.
void move_blocks_by_directory(llvm::Function& function, chosen_checks chosen, check_writer& writer);

} // namespace tulle::compiler
