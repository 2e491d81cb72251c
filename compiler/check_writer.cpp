// SPDX-License-Identifier: Apache-2.0
#include "check_writer.hpp"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr unsigned k_weight_of_usual = 100'000;

} // namespace

check_writer::check_writer(Module& module)
    : m_module(module),
      m_word(Type::getInt64Ty(module.getContext())),
      m_rare(MDBuilder(module.getContext()).createBranchWeights(1, k_weight_of_usual)) {}

Value* check_writer::address_of(IRBuilder<>& builder, Value* pointer) {
    return builder.CreatePtrToInt(pointer, m_word);
}

Value* check_writer::is_coherent(IRBuilder<>& builder, Value* address) {
    return builder.CreateICmpEQ(builder.CreateLShr(address, TULLE_COHERENT_RANGE_SHIFT),
                                builder.getInt64(TULLE_COHERENT_RANGE));
}

Value* check_writer::load_states(IRBuilder<>& builder, Value* address, Type* type) {
    Value* const place = builder.CreateLShr(address, TULLE_COHERENT_LINE_SHIFT);
    auto* const states = builder.CreateAlignedLoad(
        type, builder.CreateIntToPtr(place, PointerType::get(type, 0)), Align(1));
    mark(*states);
    return states;
}

Value* check_writer::state_of(IRBuilder<>& builder, Value* address) {
    return load_states(builder, address, builder.getInt8Ty());
}

Value* check_writer::states_from(IRBuilder<>& builder, Value* address) {
    return load_states(builder, address, builder.getInt16Ty());
}

Value* check_writer::forbids(IRBuilder<>& builder, Value* states, mode how) {
    if (how == mode::atomic) return builder.CreateIsNotNull(states);
    unsigned const bits = how == mode::load ? TULLE_COHERENT_NO_LOAD
                                            : TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;
    APInt const of_each = APInt::getSplat(states->getType()->getIntegerBitWidth(), APInt(8, bits));
    return builder.CreateIsNotNull(builder.CreateAnd(states, of_each));
}

Instruction* check_writer::when(Value* condition, Instruction* at, bool is_rare) {
    return SplitBlockAndInsertIfThen(condition, at, false, is_rare ? m_rare : nullptr);
}

CallInst* check_writer::call(Instruction* at, char const* function, ArrayRef<Value*> arguments,
                             CallingConv::ID convention, Type* result) {
    SmallVector<Type*, 4> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    if (result == nullptr) result = Type::getVoidTy(m_module.getContext());
    auto callee = m_module.getOrInsertFunction(function, FunctionType::get(result, types, false));
    auto* const declared = cast<Function>(callee.getCallee());
    declared->setCallingConv(convention);
    declared->addFnAttr(Attribute::NoUnwind);
    if (convention == CallingConv::PreserveAll) declared->addFnAttr(Attribute::Cold);
    IRBuilder<> builder(at);
    CallInst* const made = builder.CreateCall(callee, arguments);
    made->setCallingConv(convention);
    return made;
}

// Of two lines the states are looked at together, also where the bytes lie in one. Only if that
// does not allow the access it matters which lines are meant.
void check_writer::check_bytes(Instruction* at, Value* pointer, std::int64_t offset,
                               std::uint64_t bytes, bool straddles, mode how) {
    IRBuilder<> builder(at);
    Value* first = address_of(builder, pointer);
    if (offset != 0) first = builder.CreateAdd(first, builder.getInt64(offset));
    Instruction* const inside = when(is_coherent(builder, first), at, false);
    builder.SetInsertPoint(inside);
    char const* const function = how == mode::load ? "tulle_coherent_load" : "tulle_coherent_store";
    if (!straddles) {
        Instruction* const slow =
            when(forbids(builder, state_of(builder, first), how), inside, true);
        call(slow, function, {first}, CallingConv::PreserveAll);
        return;
    }
    Instruction* const unsure =
        when(forbids(builder, states_from(builder, first), how), inside, true);
    builder.SetInsertPoint(unsure);
    Value* const last = builder.CreateAdd(first, builder.getInt64(bytes - 1));
    Value* const states = builder.CreateOr(state_of(builder, first), state_of(builder, last));
    Instruction* const slow = when(forbids(builder, states, how), unsure, true);
    call(slow, function, {first}, CallingConv::PreserveAll);
    call(slow, function, {last}, CallingConv::PreserveAll);
}

// Inline for one or two lines; the run time looks at more. An end may lie beyond coherent memory,
// as a check ahead of a loop may name one step more than the loop takes.
void check_writer::check_range(Instruction* at, Value* first, Value* last, mode how) {
    IRBuilder<> builder(at);
    Value* const lines = builder.CreateSub(builder.CreateLShr(last, TULLE_COHERENT_LINE_SHIFT),
                                           builder.CreateLShr(first, TULLE_COHERENT_LINE_SHIFT));
    Value* const has_first = is_coherent(builder, first);
    Value* const has_last = is_coherent(builder, last);
    Value* const low = builder.CreateSelect(has_first, first, last);
    Value* const high = builder.CreateSelect(has_last, last, first);
    Instruction* const inside = when(builder.CreateOr(has_first, has_last), at, false);
    builder.SetInsertPoint(inside);
    Value* const states = builder.CreateOr(state_of(builder, low), state_of(builder, high));
    Value* const ask = builder.CreateOr(forbids(builder, states, how),
                                        builder.CreateICmpUGT(lines, builder.getInt64(1)));
    call(when(ask, inside, false),
         how == mode::load ? "tulle_coherent_load_range" : "tulle_coherent_store_range",
         {first, last}, CallingConv::PreserveMost);
}

void check_writer::check_rows(Instruction* at, Value* first, Value* last, Value* stride,
                              Value* more, mode how) {
    IRBuilder<> builder(at);
    call(when(is_coherent(builder, first), at, false),
         how == mode::load ? "tulle_coherent_load_rows" : "tulle_coherent_store_rows",
         {first, last, stride, more}, CallingConv::PreserveMost);
}

void check_writer::tell(Instruction* at, Value* address, Value* bytes, mode how) {
    call(at, how == mode::load ? "tulle_race_load" : "tulle_race_store", {address, bytes},
         CallingConv::C);
}

} // namespace tulle::compiler
