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
constexpr unsigned k_most_lines = 8; // whose states are looked at by one word
constexpr unsigned k_most_words = 32;

// Which forbid an access, in the states of so many lines.
APInt bits_of(unsigned lines, mode how) {
    unsigned const bits = how == mode::load ? TULLE_COHERENT_NO_LOAD
                                            : TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;
    return APInt::getSplat(8 * lines, APInt(8, bits));
}

// In which so many bytes may lie.
unsigned lines_of(std::uint64_t bytes) {
    return bytes > k_most_lines * TULLE_COHERENT_LINE
               ? k_most_lines + 1
               : static_cast<unsigned>((bytes - 2 + 2 * TULLE_COHERENT_LINE) / TULLE_COHERENT_LINE);
}

// Of a loop that is neither to become one of vectors nor longer.
MDNode* as_it_is(LLVMContext& context) {
    auto const property = [&](StringRef name) { return MDString::get(context, name); };
    Metadata* const none = ConstantAsMetadata::get(ConstantInt::getFalse(context));
    MDNode* const loop = MDNode::getDistinct(
        context, {nullptr, MDNode::get(context, {property("llvm.loop.vectorize.enable"), none}),
                  MDNode::get(context, {property("llvm.loop.unroll.disable")})});
    loop->replaceOperandWith(0, loop);
    return loop;
}

// What the program itself has declared by another type is left as it is.
void describe(Value& callee, FunctionType const& type, CallingConv::ID convention) {
    auto* const declared = dyn_cast<Function>(&callee);
    if (declared == nullptr || declared->getFunctionType() != &type) return;
    declared->setCallingConv(convention);
    declared->addFnAttr(Attribute::NoUnwind);
    if (convention == CallingConv::PreserveAll) declared->addFnAttr(Attribute::Cold);
}

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

Value* check_writer::number_of_state(IRBuilder<>& builder, Value* address) {
    return builder.CreateAdd(builder.CreateLShr(address, TULLE_COHERENT_LINE_SHIFT),
                             builder.getInt64(TULLE_COHERENT_STATES));
}

Value* check_writer::place_of_state(IRBuilder<>& builder, Value* address, Type* type) {
    return builder.CreateIntToPtr(number_of_state(builder, address), PointerType::get(type, 0));
}

Value* check_writer::load_word(IRBuilder<>& builder, Value* place) {
    auto* const states = builder.CreateAlignedLoad(
        m_word, builder.CreateIntToPtr(place, PointerType::get(m_word, 0)), Align(1));
    mark(*states);
    return states;
}

Value* check_writer::load_states(IRBuilder<>& builder, Value* address, Type* type) {
    auto* const states =
        builder.CreateAlignedLoad(type, place_of_state(builder, address, type), Align(1));
    mark(*states);
    return states;
}

Value* check_writer::state_of(IRBuilder<>& builder, Value* address) {
    return load_states(builder, address, builder.getInt8Ty());
}

// By a word that the processor compares with a number in one instruction, which it is slow at for
// words of 16 bits; LLVM would make one of 32 bits narrower, but for a bit that no state has.
Value* check_writer::forbids_first(IRBuilder<>& builder, Value* address, unsigned lines, mode how) {
    unsigned const bytes = lines == 1 ? 1 : lines <= k_most_lines_of_check ? 4 : 8;
    Value* const states = load_states(builder, address, builder.getIntNTy(8 * bytes));
    if (lines != 2) return forbids(builder, states, lines, how);
    APInt const wanted = bits_of(lines, how).zext(32) | APInt::getSignMask(32);
    return builder.CreateIsNotNull(builder.CreateAnd(states, builder.getInt(wanted)));
}

Value* check_writer::forbids(IRBuilder<>& builder, Value* states, unsigned lines, mode how) {
    Value* const wanted =
        builder.getInt(bits_of(lines, how).zext(states->getType()->getIntegerBitWidth()));
    return builder.CreateIsNotNull(builder.CreateAnd(states, wanted));
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
    describe(*callee.getCallee(), *callee.getFunctionType(), convention);
    IRBuilder<> builder(at);
    CallInst* const made = builder.CreateCall(callee, arguments);
    made->setCallingConv(convention);
    return made;
}

// Of several lines the states are looked at together, also where the bytes lie in fewer. Only if
// that does not allow the access it matters which lines are meant.
void check_writer::check_bytes(Instruction* at, checked_bytes const& what) {
    IRBuilder<> builder(at);
    Value* first = address_of(builder, what.pointer);
    if (what.offset != 0) first = builder.CreateAdd(first, builder.getInt64(what.offset));
    mode const how = what.how;
    if (what.may_be_nowhere) {
        at = when(is_coherent(builder, first), at, false);
        builder.SetInsertPoint(at);
    }
    char const* const function = how == mode::load ? "tulle_coherent_load" : "tulle_coherent_store";
    if (!what.straddles) {
        Instruction* const slow = when(forbids_first(builder, first, 1, how), at, true);
        call(slow, function, {first}, CallingConv::PreserveAll);
        return;
    }
    Instruction* const unsure =
        when(forbids_first(builder, first, lines_of(what.bytes), how), at, true);
    builder.SetInsertPoint(unsure);
    SmallVector<Value*, k_most_lines_of_check> all{first}; // in each line one
    for (std::uint64_t k = TULLE_COHERENT_LINE; k < what.bytes - 1; k += TULLE_COHERENT_LINE)
        all.push_back(builder.CreateAdd(first, builder.getInt64(k)));
    all.push_back(builder.CreateAdd(first, builder.getInt64(what.bytes - 1)));
    Value* states = nullptr;
    for (Value* address : all) {
        Value* const state = state_of(builder, address);
        states = states == nullptr ? state : builder.CreateOr(states, state);
    }
    Instruction* const slow = when(forbids(builder, states, 1, how), unsure, true);
    for (Value* address : all) call(slow, function, {address}, CallingConv::PreserveAll);
}

// Inline for up to 8 lines by one word of states, for up to 256 by several; the run time looks at
// more. An end may lie beyond coherent memory, as a check ahead of a loop may name one step more
// than the loop takes.
void check_writer::check_range(Instruction* at, checked_range const& what) {
    bool const is_short = what.bytes != 0 && lines_of(what.bytes) <= k_most_lines;
    IRBuilder<> builder(at);
    if (what.is_touched && is_short) {
        Value* const forbidden = forbids_first(builder, what.first, lines_of(what.bytes), what.how);
        return ask_for_range(when(forbidden, at, true), what);
    }
    Value* const has_first = is_coherent(builder, what.first);
    Value* const has_last = is_coherent(builder, what.last);
    Instruction* const inside = when(builder.CreateOr(has_first, has_last), at, false);
    builder.SetInsertPoint(inside);
    Value* const more =
        builder.CreateSub(builder.CreateLShr(what.last, TULLE_COHERENT_LINE_SHIFT),
                          builder.CreateLShr(what.first, TULLE_COHERENT_LINE_SHIFT));
    Value* const are_few = builder.CreateICmpULT(more, builder.getInt64(k_most_lines));
    Instruction* few = nullptr;
    Instruction* many = nullptr;
    SplitBlockAndInsertIfThenElse(are_few, inside, &few, &many);
    auto* const ask = PHINode::Create(builder.getInt1Ty(), 3, "", inside);
    builder.SetInsertPoint(few);
    Value* const low = builder.CreateSelect(has_first, what.first, what.last);
    // The states of lines behind the last one are shifted out.
    Value* const others =
        builder.CreateAnd(builder.CreateShl(builder.CreateNot(more), 3), builder.getInt64(63));
    Value* const states =
        builder.CreateShl(load_states(builder, low, builder.getInt64Ty()), others);
    ask->addIncoming(builder.CreateOr(builder.CreateNot(has_first),
                                      forbids(builder, states, k_most_lines, what.how)),
                     few->getParent());
    builder.SetInsertPoint(many);
    Value* const is_usual = builder.CreateAnd(
        builder.CreateAnd(has_first, has_last),
        builder.CreateICmpULT(more, builder.getInt64(k_most_words * k_most_lines)));
    ask->addIncoming(builder.getTrue(), many->getParent());
    Instruction* const all = SplitBlockAndInsertIfThen(is_usual, many, false);
    look_at_words(all, what, *ask);
    ask_for_range(when(ask, inside, false), what);
}

// The states of at least 8 lines, word by word, the last word beside the one before or over it.
// Ends the block of `at`, whose branch it takes to where `ask` is.
void check_writer::look_at_words(Instruction* at, checked_range const& what, PHINode& ask) {
    LLVMContext& context = m_module.getContext();
    IRBuilder<> builder(at);
    Value* const first = number_of_state(builder, what.first);
    Value* const last =
        builder.CreateSub(number_of_state(builder, what.last), builder.getInt64(k_most_lines - 1));
    Value* const found = load_word(builder, last);
    BasicBlock* const before = at->getParent();
    auto* const turn =
        BasicBlock::Create(context, "tulle.states", before->getParent(), ask.getParent());
    builder.CreateBr(turn);
    at->eraseFromParent();
    builder.SetInsertPoint(turn);
    PHINode* const place = builder.CreatePHI(m_word, 2);
    PHINode* const states = builder.CreatePHI(m_word, 2);
    Value* const more = builder.CreateOr(states, load_word(builder, place));
    Value* const next = builder.CreateAdd(place, builder.getInt64(k_most_lines));
    Value* const forbidden = forbids(builder, more, k_most_lines, what.how);
    auto* const end =
        builder.CreateCondBr(builder.CreateICmpULT(next, last), turn, ask.getParent());
    end->setMetadata(LLVMContext::MD_loop, as_it_is(context));
    place->addIncoming(first, before);
    place->addIncoming(next, turn);
    states->addIncoming(found, before);
    states->addIncoming(more, turn);
    ask.addIncoming(forbidden, turn);
}

void check_writer::ask_for_range(Instruction* at, checked_range const& what) {
    call(at, what.how == mode::load ? "tulle_coherent_load_range" : "tulle_coherent_store_range",
         {what.first, what.last}, CallingConv::PreserveMost);
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
