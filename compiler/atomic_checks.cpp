// SPDX-License-Identifier: Apache-2.0
#include "atomic_checks.hpp"

#include <optional>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

// The arguments of tulle_coherent_atomic. The operands are null where the action has none.
struct action {
    unsigned kind;
    AtomicOrdering order;
    Value* operand = nullptr;
    Value* expected = nullptr;
};

std::optional<unsigned> kind_of(AtomicRMWInst::BinOp operation) {
    switch (operation) {
        case AtomicRMWInst::Xchg: return TULLE_COHERENT_ATOMIC_SWAP;
        case AtomicRMWInst::Add: return TULLE_COHERENT_ATOMIC_ADD;
        case AtomicRMWInst::Sub: return TULLE_COHERENT_ATOMIC_SUB;
        case AtomicRMWInst::And: return TULLE_COHERENT_ATOMIC_AND;
        case AtomicRMWInst::Or: return TULLE_COHERENT_ATOMIC_OR;
        case AtomicRMWInst::Xor: return TULLE_COHERENT_ATOMIC_XOR;
        default: return std::nullopt;
    }
}

std::optional<action> action_of(Instruction& i) {
    if (auto* load = dyn_cast<LoadInst>(&i))
        return action{TULLE_COHERENT_ATOMIC_LOAD, load->getOrdering()};
    if (auto* store = dyn_cast<StoreInst>(&i))
        return action{TULLE_COHERENT_ATOMIC_STORE, store->getOrdering(), store->getValueOperand()};
    if (auto* compare = dyn_cast<AtomicCmpXchgInst>(&i))
        return action{TULLE_COHERENT_ATOMIC_COMPARE, compare->getMergedOrdering(),
                      compare->getNewValOperand(), compare->getCompareOperand()};
    auto* const change = cast<AtomicRMWInst>(&i);
    auto const kind = kind_of(change->getOperation());
    if (!kind) return std::nullopt;
    return action{*kind, change->getOrdering(), change->getValOperand()};
}

unsigned order_of(AtomicOrdering order) {
    return order == AtomicOrdering::NotAtomic ? unsigned(__ATOMIC_RELAXED)
                                              : static_cast<unsigned>(toCABI(order));
}

// A value of up to 64 bits as a word, and back.
Value* to_word(IRBuilder<>& builder, Value* value) {
    if (value == nullptr) return builder.getInt64(0);
    if (value->getType()->isPointerTy()) return builder.CreatePtrToInt(value, builder.getInt64Ty());
    Type* const integer = builder.getIntNTy(value->getType()->getScalarSizeInBits());
    return builder.CreateZExt(builder.CreateBitCast(value, integer), builder.getInt64Ty());
}

Value* from_word(IRBuilder<>& builder, Value* word, Type* type) {
    if (type->isPointerTy()) return builder.CreateIntToPtr(word, type);
    Type* const integer = builder.getIntNTy(type->getScalarSizeInBits());
    return builder.CreateBitCast(builder.CreateTrunc(word, integer), type);
}

Value* call_home(IRBuilder<>& builder, access const& a, action const& wanted,
                 check_writer& writer) {
    auto* const word = builder.getInt64Ty();
    auto const callee = a.at->getModule()->getOrInsertFunction(
        chosen_scheme() == scheme::races ? "tulle_race_atomic" : "tulle_coherent_atomic",
        FunctionType::get(word, {word, word, word, builder.getInt32Ty()}, false));
    unsigned const bits = wanted.kind | Log2_64(a.bytes) << TULLE_COHERENT_ATOMIC_SIZE_SHIFT |
                          order_of(wanted.order) << TULLE_COHERENT_ATOMIC_ORDER_SHIFT;
    return builder.CreateCall(callee, {writer.address_of(builder, a.pointer()),
                                       to_word(builder, wanted.operand),
                                       to_word(builder, wanted.expected), builder.getInt32(bits)});
}

// The value of the instruction, made of what the home had before.
Value* result_of(IRBuilder<>& builder, Value* before, Instruction& i, action const& wanted) {
    auto* const compare = dyn_cast<AtomicCmpXchgInst>(&i);
    if (compare == nullptr) return from_word(builder, before, i.getType());
    Value* const same = builder.CreateICmpEQ(before, to_word(builder, wanted.expected));
    Value* const old = from_word(builder, before, compare->getCompareOperand()->getType());
    Value* const half = builder.CreateInsertValue(UndefValue::get(i.getType()), old, 0);
    return builder.CreateInsertValue(half, same, 1);
}

// Two ways lead from the check to what follows the access: in place, and by the run time.
void check_atomic(access const& a, action const& wanted, check_writer& writer) {
    Instruction* const after = a.at->getNextNode();
    IRBuilder<> builder(a.at);
    Value* const address = writer.address_of(builder, a.pointer());
    BasicBlock* const outside = a.at->getParent();
    Instruction* const inside = writer.when(writer.is_coherent(builder, address), a.at, false);
    builder.SetInsertPoint(inside);
    Value* const away = checks_hold_on()
                            ? builder.CreateIsNotNull(writer.state_of(builder, address))
                            : builder.getTrue(); // the run time locks what it needs
    BasicBlock* const looked = inside->getParent();
    auto* const ask = PHINode::Create(away->getType(), 2, "", &*a.at->getParent()->begin());
    ask->addIncoming(builder.getFalse(), outside);
    ask->addIncoming(away, looked);
    Instruction* there = nullptr;
    Instruction* here = nullptr;
    SplitBlockAndInsertIfThenElse(ask, after, &there, &here);
    builder.SetInsertPoint(there);
    builder.SetCurrentDebugLocation(a.at->getDebugLoc());
    Value* const before = call_home(builder, a, wanted, writer);
    a.at->moveBefore(here);
    if (a.at->getType()->isVoidTy()) return;
    Value* const result = result_of(builder, before, *a.at, wanted);
    auto* const either = PHINode::Create(a.at->getType(), 2, "", &*after->getParent()->begin());
    a.at->replaceAllUsesWith(either);
    either->addIncoming(result, there->getParent());
    either->addIncoming(a.at, here->getParent());
}

} // namespace

void check_fences(Function& function, check_writer& writer) {
    for (Instruction& i : instructions(function)) {
        auto* const fence = dyn_cast<FenceInst>(&i);
        if (fence == nullptr || fence->getSyncScopeID() == SyncScope::SingleThread) continue;
        if (isReleaseOrStronger(fence->getOrdering()))
            writer.call(fence, "tulle_coherent_release", {}, CallingConv::C);
        if (isAcquireOrStronger(fence->getOrdering()))
            writer.call(fence->getNextNode(), "tulle_coherent_acquire", {}, CallingConv::C);
    }
}

void check_atomics(ArrayRef<access> accesses, check_writer& writer) {
    for (access const& a : accesses) {
        if (a.how != mode::atomic) continue;
        if (auto const wanted = action_of(*a.at)) check_atomic(a, *wanted, writer);
    }
}

} // namespace tulle::compiler
