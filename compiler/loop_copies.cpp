// SPDX-License-Identifier: Apache-2.0
#include "loop_copies.hpp"

#include <cstddef>

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::size_t k_longest_loop = 500; // of a loop, which there will be twice

bool has_other_circles(Loop& loop, LoopInfo& loops) {
    LoopBlocksRPO order(&loop);
    order.perform(&loops);
    return !loop.getSubLoops().empty() || containsIrreducibleCFG<BasicBlock const*>(order, loops);
}

} // namespace

bool can_be_copied(Loop& loop, LoopInfo& loops) {
    BasicBlock const* const end = loop.getExitingBlock();
    if (!loop.isLoopSimplifyForm() || end == nullptr || !isa<BranchInst>(end->getTerminator()) ||
        !loop.isSafeToClone() || has_other_circles(loop, loops))
        return false;
    std::size_t instructions = 0;
    for (BasicBlock const* block : loop.blocks()) instructions += block->size();
    return instructions <= k_longest_loop;
}

// The copy of the loop stays as the loop was.
void copy_loop(Loop& loop, Value* test, unsigned weight, LoopInfo& loops, DominatorTree& dominators,
               ScalarEvolution* evolution, ValueToValueMapTy& copies) {
    formLCSSA(loop, dominators, &loops, evolution);
    BasicBlock* const before = loop.getLoopPreheader();
    BasicBlock* const end = loop.getExitingBlock();
    BasicBlock* const behind = loop.getExitBlock();
    BasicBlock* const ahead = SplitBlock(before, before->getTerminator(), &dominators, &loops);
    SmallVector<BasicBlock*, 8> blocks;
    Loop const* const other = cloneLoopWithPreheader(ahead, before, &loop, copies, ".as_it_was",
                                                     &loops, &dominators, blocks);
    remapInstructionsInBlocks(blocks, copies);
    Instruction* const last = before->getTerminator();
    IRBuilder<> builder(last);
    MDNode* const weights =
        weight == 0 ? nullptr : MDBuilder(test->getContext()).createBranchWeights(weight, 1);
    builder.CreateCondBr(test, ahead, other->getLoopPreheader(), weights);
    last->eraseFromParent();
    for (PHINode& result : behind->phis()) {
        Value* const value = result.getIncomingValueForBlock(end);
        auto const copy = copies.find(value);
        result.addIncoming(copy == copies.end() ? value : static_cast<Value*>(copy->second),
                           cast<BasicBlock>(static_cast<Value*>(copies[end])));
    }
    dominators.changeImmediateDominator(behind, before);
}

} // namespace tulle::compiler
