// SPDX-License-Identifier: Apache-2.0
// Two versions of a loop: what is known ahead of it says which one runs.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace tulle::compiler {

// Whether the loop has one end and no other loop within, and is not too long to be there twice.
bool can_be_copied(llvm::Loop& loop, llvm::LoopInfo& loops);

// The loop runs where the test holds, and else a copy of it. Where its original is in the copy
// `copies` tells. `weight`: how often the loop runs for each time that the copy does; 0: unknown.
void copy_loop(llvm::Loop& loop, llvm::Value* test, unsigned weight, llvm::LoopInfo& loops,
               llvm::DominatorTree& dominators, llvm::ScalarEvolution* evolution,
               llvm::ValueToValueMapTy& copies);

} // namespace tulle::compiler
