// SPDX-License-Identifier: Apache-2.0
#include "atomic_changes.hpp"

#include "accesses.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::uint64_t k_most_bits = 64;

// Null: one that is not known here either.
Value* changed(IRBuilder<>& builder, AtomicRMWInst::BinOp operation, Value* old, Value* operand) {
    auto const choose = [&](CmpInst::Predicate keeps_old) {
        return builder.CreateSelect(builder.CreateICmp(keeps_old, old, operand), old, operand);
    };
    switch (operation) {
        case AtomicRMWInst::Nand: return builder.CreateNot(builder.CreateAnd(old, operand));
        case AtomicRMWInst::Max: return choose(CmpInst::ICMP_SGT);
        case AtomicRMWInst::Min: return choose(CmpInst::ICMP_SLE);
        case AtomicRMWInst::UMax: return choose(CmpInst::ICMP_UGT);
        case AtomicRMWInst::UMin: return choose(CmpInst::ICMP_ULE);
        case AtomicRMWInst::FAdd: return builder.CreateFAdd(old, operand);
        case AtomicRMWInst::FSub: return builder.CreateFSub(old, operand);
#if LLVM_VERSION_MAJOR >= 15
        case AtomicRMWInst::FMax: return builder.CreateMaxNum(old, operand);
        case AtomicRMWInst::FMin: return builder.CreateMinNum(old, operand);
#endif
#if LLVM_VERSION_MAJOR >= 16
        case AtomicRMWInst::UIncWrap:
            return builder.CreateSelect(
                builder.CreateICmpUGE(old, operand), Constant::getNullValue(old->getType()),
                builder.CreateAdd(old, ConstantInt::get(old->getType(), 1)));
        case AtomicRMWInst::UDecWrap:
            return builder.CreateSelect(
                builder.CreateOr(builder.CreateIsNull(old), builder.CreateICmpUGT(old, operand)),
                operand, builder.CreateSub(old, ConstantInt::get(old->getType(), 1)));
#endif
        default: return nullptr;
    }
}

bool is_expanded(AtomicRMWInst const& change) {
    DataLayout const& layout = change.getModule()->getDataLayout();
    return !is_change_of_run_time(change.getOperation()) &&
           layout.getTypeSizeInBits(change.getType()).getKnownMinValue() <= k_most_bits &&
           !is_private(change.getPointerOperand());
}

// The loop begins with what a load has found, and goes on with what each comparison has.
void expand(AtomicRMWInst& change) {
    Type* const type = change.getType();
    BasicBlock* const before = change.getParent();
    BasicBlock* const after = before->splitBasicBlock(&change);
    auto* const loop = BasicBlock::Create(change.getContext(), "", before->getParent(), after);
    before->getTerminator()->eraseFromParent();

    IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(change.getDebugLoc());
    LoadInst* const first = builder.CreateAlignedLoad(type, change.getPointerOperand(),
                                                      change.getAlign(), change.isVolatile());
    first->setAtomic(AtomicOrdering::Monotonic, change.getSyncScopeID());
    builder.CreateBr(loop);

    builder.SetInsertPoint(loop);
    PHINode* const old = builder.CreatePHI(type, 2);
    Value* const next = changed(builder, change.getOperation(), old, change.getValOperand());
    Type* const word =
        builder.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits().getKnownMinValue()));
    Value* const pointer = builder.CreateBitCast(
        change.getPointerOperand(), word->getPointerTo(change.getPointerAddressSpace()));
    AtomicCmpXchgInst* const exchange = builder.CreateAtomicCmpXchg(
        pointer, builder.CreateBitCast(old, word), builder.CreateBitCast(next, word),
        change.getAlign(), change.getOrdering(),
        AtomicCmpXchgInst::getStrongestFailureOrdering(change.getOrdering()),
        change.getSyncScopeID());
    exchange->setVolatile(change.isVolatile());
    Value* const seen = builder.CreateBitCast(builder.CreateExtractValue(exchange, 0), type);
    builder.CreateCondBr(builder.CreateExtractValue(exchange, 1), after, loop);
    old->addIncoming(first, before);
    old->addIncoming(seen, loop);

    change.replaceAllUsesWith(seen);
    change.eraseFromParent();
}

} // namespace

bool is_change_of_run_time(AtomicRMWInst::BinOp operation) {
    switch (operation) {
        case AtomicRMWInst::Xchg:
        case AtomicRMWInst::Add:
        case AtomicRMWInst::Sub:
        case AtomicRMWInst::And:
        case AtomicRMWInst::Or:
        case AtomicRMWInst::Xor: return true;
        default: return false;
    }
}

void expand_changes(Function& function) {
    SmallVector<AtomicRMWInst*, 4> found; // loops cut blocks apart
    for (Instruction& i : instructions(function))
        if (auto* const change = dyn_cast<AtomicRMWInst>(&i))
            if (is_expanded(*change)) found.push_back(change);
    for (AtomicRMWInst* const change : found) expand(*change);
}

} // namespace tulle::compiler
