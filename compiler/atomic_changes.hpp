// SPDX-License-Identifier: Apache-2.0
// Atomic changes that the run time does not know, such as a maximum: they become loops of
// comparisons, which it knows.
#pragma once

#include "llvm/IR/Instructions.h"

namespace tulle::compiler {

// Whether the run time can do it elsewhere as it is.
bool is_change_of_run_time(llvm::AtomicRMWInst::BinOp operation);

// Of words of up to 64 bits in memory that may be shared.
void expand_changes(llvm::Function& function);

} // namespace tulle::compiler
