// SPDX-License-Identifier: Apache-2.0
// What is known of the loops of a function, and expressions of it.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/PassManager.h"

namespace tulle::compiler {

struct loop_analyses {
    llvm::LoopInfo& loops;
    llvm::ScalarEvolution& evolution;
    llvm::DominatorTree& dominators;

    static loop_analyses of(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
    // Each loop has a block ahead of it then, without which nothing leaves it. Returns whether it
    // has changed the function.
    bool simplify() const;
    // Whether the value is the same in all turns of the loop, and can be computed ahead of it.
    bool is_known_ahead(llvm::SCEV const* value, llvm::Loop const& loop) const;
};

// An address as a number, so that its sums need no pointer.
llvm::SCEV const* number_of(llvm::ScalarEvolution& evolution, llvm::Value* pointer);
// a - b, if that is the same in any case.
std::optional<std::int64_t> constant_difference(llvm::ScalarEvolution& evolution,
                                                llvm::SCEV const* a, llvm::SCEV const* b);

} // namespace tulle::compiler
