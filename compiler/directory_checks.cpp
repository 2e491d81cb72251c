// SPDX-License-Identifier: Apache-2.0
#include "directory_checks.hpp"

#include <algorithm>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::uint64_t k_word = 4;   // the value that stands for no data
constexpr std::uint64_t k_widest = 8; // that is loaded at once, of a vector

bool is_number(Type* type) {
    return type->isIntegerTy() || type->isPointerTy() || type->isFloatTy() || type->isDoubleTy();
}

class directory_writer {
public:
    directory_writer(Function& function, check_writer& writer)
        : m_function(function), m_layout(function.getParent()->getDataLayout()), m_writer(writer) {}

    void check(access const& a) {
        if (auto* load = dyn_cast<LoadInst>(a.at))
            check_load(*load, a);
        else if (auto* call = dyn_cast<CallBase>(a.at))
            check_by_value(*call, a);
        else
            check_stored(*a.at, a);
    }

private:
    // --- loads
    void check_load(LoadInst& load, access const& a) {
        load.dropUnknownNonDebugMetadata(); // what it says of values does not hold of no data
        Type* const type = load.getType();
        bool const is_scalar = is_number(type) && !a.may_straddle_lines() && a.bytes <= k_widest &&
                               m_layout.getTypeSizeInBits(type) == a.bytes * 8 &&
                               isPowerOf2_64(a.bytes);
        if (!is_scalar && words_of(load, a) == 0) return load_by_copy(load, a);
        IRBuilder<> builder(load.getNextNode());
        Value* const absent = is_scalar ? is_no_data(builder, load, a)
                                        : has_no_data(builder, load, words_of(load, a), a);
        load_again(load, absent, a, is_scalar);
    }
    // How wide the parts of a vector are that may each be absent; 0: it is no such vector.
    std::uint64_t words_of(LoadInst const& load, access const& a) const {
        auto* const vector = dyn_cast<FixedVectorType>(load.getType());
        if (vector == nullptr || !is_number(vector->getElementType()) ||
            m_layout.getTypeSizeInBits(vector) != a.bytes * 8)
            return 0;
        std::uint64_t const width = std::min(a.alignment, k_widest);
        return width >= k_word && a.bytes % width == 0 ? width : 0;
    }
    bool has_nans() const {
        return m_function.getFnAttribute("no-nans-fp-math").getValueAsString() != "true";
    }
    Value* no_data(IRBuilder<>& builder, access const& a) {
        std::uint64_t const twice =
            std::uint64_t{TULLE_DIRECTORY_NO_DATA} << 32U | TULLE_DIRECTORY_NO_DATA;
        if (a.bytes >= k_word)
            return builder.getIntN(8 * unsigned(a.bytes),
                                   a.bytes == 8 ? twice : TULLE_DIRECTORY_NO_DATA);
        Value* const place =
            builder.CreateAnd(m_writer.address_of(builder, a.pointer()), k_word - 1);
        Value* const part = builder.CreateLShr(builder.getInt64(TULLE_DIRECTORY_NO_DATA),
                                               builder.CreateShl(place, 3));
        return builder.CreateTrunc(part, builder.getIntNTy(8 * unsigned(a.bytes)));
    }
    // No data is no number.
    Value* is_no_data(IRBuilder<>& builder, LoadInst& load, access const& a) {
        Type* const type = load.getType();
        if (type->isFloatingPointTy() && has_nans()) return builder.CreateFCmpUNO(&load, &load);
        Type* const number = builder.getIntNTy(8 * unsigned(a.bytes));
        Value* const value = type->isPointerTy() ? builder.CreatePtrToInt(&load, number)
                                                 : builder.CreateBitCast(&load, number);
        return builder.CreateICmpEQ(value, no_data(builder, a));
    }
    Value* has_no_data(IRBuilder<>& builder, LoadInst& load, std::uint64_t width, access const& a) {
        auto* const type = cast<FixedVectorType>(load.getType());
        auto const count = unsigned(a.bytes / width);
        Type* const word = builder.getIntNTy(8 * unsigned(width));
        Value* value = &load;
        if (type->getElementType()->isPointerTy())
            value = builder.CreatePtrToInt(
                value, FixedVectorType::get(builder.getInt64Ty(), type->getNumElements()));
        Type* const words = FixedVectorType::get(word, count);
        access const one{a.at, a.operand, width, width, a.how};
        Value* const found =
            builder.CreateICmpEQ(builder.CreateBitCast(value, words),
                                 builder.CreateVectorSplat(count, no_data(builder, one)));
        return builder.CreateIsNotNull(builder.CreateBitCast(found, builder.getIntNTy(count)));
    }
    void load_again(LoadInst& load, Value* absent, access const& a, bool is_scalar) {
        Instruction* const after = cast<Instruction>(absent)->getNextNode();
        BasicBlock* const usual = after->getParent();
        Instruction* const rare = m_writer.when(absent, after, true);
        BasicBlock* const asked = rare->getParent();
        IRBuilder<> builder(rare);
        Value* const address = m_writer.address_of(builder, a.pointer());
        Instruction* const inside =
            m_writer.when(m_writer.is_coherent(builder, address), rare, false);
        builder.SetInsertPoint(inside);
        Value* const again =
            is_scalar ? load_locked(load, inside, address) : load_copied(load, inside, address, a);
        BasicBlock* const there = inside->getParent();
        auto* const either = PHINode::Create(load.getType(), 2, "", &*rare->getParent()->begin());
        either->addIncoming(&load, asked);
        either->addIncoming(again, there);
        auto* const result = PHINode::Create(load.getType(), 2, "", &*after->getParent()->begin());
        load.replaceUsesWithIf(result, [&](Use& use) {
            auto* const user = cast<Instruction>(use.getUser());
            return user != either && !belongs_to_check(user, absent);
        });
        result->addIncoming(&load, usual);
        result->addIncoming(either, rare->getParent());
    }
    // Whether `absent` is computed by it.
    static bool belongs_to_check(Instruction const* user, Value const* absent) {
        for (Instruction const* i = cast<Instruction>(absent); i != nullptr; i = i->getPrevNode()) {
            if (isa<LoadInst>(i)) return false;
            if (i == user) return true;
        }
        return false;
    }
    Value* load_locked(LoadInst& load, Instruction* at, Value* address) {
        hold("tulle_directory_load", at, address);
        IRBuilder<> builder(at);
        Value* const again = builder.Insert(load.clone());
        let_go(builder);
        return again;
    }
    Value* load_copied(LoadInst& load, Instruction* at, Value* address, access const& a) {
        IRBuilder<> builder(at);
        AllocaInst* const room = room_for(load.getType());
        copy(at, m_writer.address_of(builder, room), address, a.bytes);
        return builder.CreateAlignedLoad(load.getType(), room, room->getAlign());
    }
    void load_by_copy(LoadInst& load, access const& a) {
        IRBuilder<> builder(&load);
        Value* const address = m_writer.address_of(builder, a.pointer());
        Instruction* there = nullptr;
        Instruction* here = nullptr;
        Instruction* const after = load.getNextNode();
        SplitBlockAndInsertIfThenElse(m_writer.is_coherent(builder, address), after, &there, &here);
        Value* const copied = load_copied(load, there, address, a);
        load.moveBefore(here);
        auto* const either = PHINode::Create(load.getType(), 2, "", &*after->getParent()->begin());
        load.replaceAllUsesWith(either);
        either->addIncoming(copied, there->getParent());
        either->addIncoming(&load, here->getParent());
    }
    // An argument that the call copies.
    void check_by_value(CallBase& call, access const& a) {
        Value* const from = a.pointer();
        AllocaInst* const room = room_for(call.getParamByValType(a.operand));
        if (auto const wanted = call.getParamAlign(a.operand))
            room->setAlignment(std::max(room->getAlign(), *wanted));
        IRBuilder<> builder(&call);
        Value* const address = m_writer.address_of(builder, from);
        copy(&call, m_writer.address_of(builder, room), address, a.bytes);
        call.setArgOperand(a.operand, builder.CreatePointerCast(room, from->getType()));
    }

    // --- stores
    // What may lie in two lines, as other instructions than plain stores never do, is stored by the
    // run time if it does.
    void check_stored(Instruction& store, access const& a) {
        if (a.may_straddle_lines() || a.bytes > TULLE_COHERENT_LINE)
            store_by_copy(*cast<StoreInst>(&store), a);
        if (a.bytes <= TULLE_COHERENT_LINE) check_store(store, a);
    }
    // The tag is locked before and let go after; or the run time has locked the entry.
    void check_store(Instruction& store, access const& a) {
        store.setMetadata(LLVMContext::MD_nontemporal, nullptr); // it might come after the unlock
        Instruction* const after = store.getNextNode();
        IRBuilder<> builder(&store);
        Value* const address = m_writer.address_of(builder, a.pointer());
        Value* const is_inside = m_writer.is_coherent(builder, address);
        Value* const tag = m_writer.place_of_state(builder, address, builder.getInt8Ty());
        BasicBlock* const outside = store.getParent();
        Instruction* const inside = m_writer.when(is_inside, &store, false);
        builder.SetInsertPoint(inside);
        Value* const before = builder.CreateAtomicRMW(
            AtomicRMWInst::Xchg, tag, builder.getInt8(TULLE_DIRECTORY_LOCKED), MaybeAlign(1),
            AtomicOrdering::AcquireRelease);
        Value* const was_not =
            builder.CreateICmpNE(before, builder.getInt8(TULLE_DIRECTORY_EXCLUSIVE));
        Instruction* const slow = m_writer.when(was_not, inside, true);
        hold("tulle_directory_store", slow, address);
        auto* const asked =
            PHINode::Create(was_not->getType(), 2, "", &*store.getParent()->begin());
        asked->addIncoming(builder.getFalse(), outside);
        asked->addIncoming(was_not, inside->getParent());
        Instruction* const locked = m_writer.when(is_inside, after, false);
        Instruction* there = nullptr;
        Instruction* here = nullptr;
        SplitBlockAndInsertIfThenElse(asked, locked, &there, &here);
        builder.SetInsertPoint(there);
        let_go(builder);
        builder.SetInsertPoint(here);
        auto* const end =
            builder.CreateAlignedStore(builder.getInt8(TULLE_DIRECTORY_EXCLUSIVE), tag, Align(1));
        end->setAtomic(AtomicOrdering::Release);
    }
    void store_by_copy(StoreInst& store, access const& a) {
        IRBuilder<> builder(&store);
        Value* const address = m_writer.address_of(builder, a.pointer());
        Value* is_copied = m_writer.is_coherent(builder, address);
        if (a.bytes <= TULLE_COHERENT_LINE)
            is_copied = builder.CreateAnd(is_copied, straddles(builder, address, a.bytes));
        Instruction* there = nullptr;
        Instruction* here = nullptr;
        SplitBlockAndInsertIfThenElse(is_copied, store.getNextNode(), &there, &here);
        builder.SetInsertPoint(there);
        AllocaInst* const room = room_for(store.getValueOperand()->getType());
        builder.CreateAlignedStore(store.getValueOperand(), room, room->getAlign());
        copy(there, address, m_writer.address_of(builder, room), a.bytes);
        store.moveBefore(here);
    }
    static Value* straddles(IRBuilder<>& builder, Value* address, std::uint64_t bytes) {
        return builder.CreateICmpUGT(builder.CreateAnd(address, TULLE_COHERENT_LINE - 1),
                                     builder.getInt64(TULLE_COHERENT_LINE - bytes));
    }

    // --- what they share
    AllocaInst* room_for(Type* type) {
        IRBuilder<> builder(&*m_function.getEntryBlock().begin());
        return builder.CreateAlloca(type);
    }
    void hold(char const* function, Instruction* at, Value* address) {
        IRBuilder<> builder(at);
        m_writer.call(at, function, {address, m_writer.address_of(builder, held())},
                      CallingConv::PreserveAll);
    }
    void let_go(IRBuilder<>& builder) {
        Type* const word = builder.getInt64Ty();
        auto const part = [&](unsigned k) {
            Value* const place =
                builder.CreateConstInBoundsGEP2_64(held()->getAllocatedType(), held(), 0, k);
            return builder.CreateLoad(word, place);
        };
        Value* const entry = builder.CreateIntToPtr(part(0), PointerType::get(word, 0));
        builder.CreateAlignedStore(part(1), entry, Align(8))->setAtomic(AtomicOrdering::Release);
    }
    // tulle_directory_held
    AllocaInst* held() {
        if (m_held == nullptr)
            m_held = room_for(ArrayType::get(Type::getInt64Ty(m_function.getContext()), 2));
        return m_held;
    }
    void copy(Instruction* at, Value* to, Value* from, std::uint64_t bytes) {
        m_writer.call(at, "tulle_coherent_copy", {to, from, IRBuilder<>(at).getInt64(bytes)},
                      CallingConv::C);
    }

    Function& m_function;
    DataLayout const& m_layout;
    check_writer& m_writer;
    AllocaInst* m_held = nullptr;
};

// One lane of a masked access after the other.
class lane_splitter {
public:
    explicit lane_splitter(IntrinsicInst& call) : m_call(call) {}

    void split() {
        switch (m_call.getIntrinsicID()) {
            case Intrinsic::masked_load:
            case Intrinsic::masked_gather: m_alignment = 1; return load(0, 2, 3, false);
            case Intrinsic::masked_expandload: return load(0, 1, 2, true);
            case Intrinsic::masked_store:
            case Intrinsic::masked_scatter: m_alignment = 2; return store(1, 3, false);
            case Intrinsic::masked_compressstore: return store(1, 2, true);
            default: return;
        }
    }

private:
    Value* argument(unsigned k) const { return m_call.getArgOperand(k); }
    // The address of a lane, and how many before it are wanted where lanes are packed.
    Value* pointer_of(IRBuilder<>& builder, unsigned pointers, Type* element, unsigned lane,
                      Value* packed) const {
        Value* const all = argument(pointers);
        if (all->getType()->isVectorTy()) return builder.CreateExtractElement(all, lane);
        Value* const first = builder.CreatePointerCast(all, PointerType::get(element, 0));
        return builder.CreateGEP(element, first,
                                 packed != nullptr ? packed : builder.getInt64(lane));
    }
    template <typename Each> void each_lane(unsigned mask, unsigned lanes, bool is_packed, Each f) {
        IRBuilder<> builder(&m_call);
        Value* packed = is_packed ? builder.getInt64(0) : nullptr;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            builder.SetInsertPoint(&m_call);
            Value* const wanted = builder.CreateExtractElement(argument(mask), lane);
            Value* const next =
                is_packed
                    ? builder.CreateAdd(packed, builder.CreateZExt(wanted, builder.getInt64Ty()))
                    : nullptr;
            BasicBlock* const before = m_call.getParent();
            Instruction* const there = SplitBlockAndInsertIfThen(wanted, &m_call, false);
            IRBuilder<> at(there);
            f(at, lane, packed, before);
            packed = next;
        }
    }
    // Of coherent memory, which lies in no other address space.
    bool is_of_others(unsigned pointers) const {
        return argument(pointers)->getType()->getPointerAddressSpace() != 0;
    }
    void load(unsigned pointers, unsigned mask, unsigned otherwise, bool is_packed) {
        if (is_of_others(pointers)) return;
        auto* const type = cast<FixedVectorType>(m_call.getType());
        Type* const element = type->getElementType();
        Value* result = argument(otherwise);
        each_lane(mask, type->getNumElements(), is_packed,
                  [&](IRBuilder<>& at, unsigned lane, Value* packed, BasicBlock* before) {
                      Value* const p = pointer_of(at, pointers, element, lane, packed);
                      Value* const one = at.CreateAlignedLoad(element, p, alignment(element));
                      Value* const with = at.CreateInsertElement(result, one, lane);
                      auto* const either =
                          PHINode::Create(type, 2, "", &*m_call.getParent()->begin());
                      either->addIncoming(result, before);
                      either->addIncoming(with, at.GetInsertBlock());
                      result = either;
                  });
        m_call.replaceAllUsesWith(result);
        m_call.eraseFromParent();
    }
    void store(unsigned pointers, unsigned mask, bool is_packed) {
        if (is_of_others(pointers)) return;
        auto* const type = cast<FixedVectorType>(argument(0)->getType());
        Type* const element = type->getElementType();
        each_lane(mask, type->getNumElements(), is_packed,
                  [&](IRBuilder<>& at, unsigned lane, Value* packed, BasicBlock*) {
                      Value* const p = pointer_of(at, pointers, element, lane, packed);
                      at.CreateAlignedStore(at.CreateExtractElement(argument(0), lane), p,
                                            alignment(element));
                  });
        m_call.eraseFromParent();
    }
    Align alignment(Type* element) const {
        Align const usual = m_call.getModule()->getDataLayout().getABITypeAlign(element);
        if (m_alignment < 0) return Align(1);
        auto const* const said = cast<ConstantInt>(argument(static_cast<unsigned>(m_alignment)));
        return said->isZero() ? usual : std::min(usual, Align(said->getZExtValue()));
    }

    IntrinsicInst& m_call;
    int m_alignment = -1; // the argument that says it
};

void move_block(AnyMemIntrinsic& operation, check_writer& writer) {
    IRBuilder<> builder(&operation);
    auto* const transfer = dyn_cast<AnyMemTransferInst>(&operation);
    Value* const to = writer.address_of(builder, operation.getRawDest());
    Value* const bytes = builder.CreateZExtOrTrunc(operation.getLength(), builder.getInt64Ty());
    // Of a side that is private there is nothing to ask.
    Value* is_inside =
        is_private(operation.getRawDest()) ? builder.getFalse() : writer.is_coherent(builder, to);
    Value* from = nullptr;
    if (transfer != nullptr) {
        from = writer.address_of(builder, transfer->getRawSource());
        if (!is_private(transfer->getRawSource()))
            is_inside = builder.CreateOr(is_inside, writer.is_coherent(builder, from));
    } else {
        from = builder.CreateZExt(cast<AnyMemSetInst>(operation).getValue(), builder.getInt32Ty());
    }
    Instruction* there = nullptr;
    Instruction* here = nullptr;
    SplitBlockAndInsertIfThenElse(is_inside, operation.getNextNode(), &there, &here);
    writer.call(there, transfer != nullptr ? "tulle_coherent_copy" : "tulle_coherent_fill",
                {to, from, bytes}, CallingConv::C);
    operation.moveBefore(here);
}

bool may_be_shared(AnyMemIntrinsic const& operation, chosen_checks chosen) {
    if (is_between_address_spaces(operation)) return false; // it is listed
    if (chosen.covers(mode::store) && !is_private(operation.getRawDest())) return true;
    auto const* const transfer = dyn_cast<AnyMemTransferInst>(&operation);
    return transfer != nullptr && chosen.covers(mode::load) &&
           !is_private(transfer->getRawSource());
}

} // namespace

void split_lanes(Function& function) {
    SmallVector<IntrinsicInst*, 8> found;
    for (Instruction& i : instructions(function))
        if (auto* const call = dyn_cast<IntrinsicInst>(&i)) found.push_back(call);
    for (IntrinsicInst* const call : found) lane_splitter(*call).split();
}

void check_by_directory(Function& function, ArrayRef<access> accesses, check_writer& writer) {
    directory_writer by(function, writer);
    for (access const& a : accesses)
        if (a.how != mode::atomic) by.check(a);
}

void move_blocks_by_directory(Function& function, chosen_checks chosen, check_writer& writer) {
    SmallVector<AnyMemIntrinsic*, 8> found; // checks cut blocks apart
    for (Instruction& i : instructions(function))
        if (auto* const operation = dyn_cast<AnyMemIntrinsic>(&i))
            if (may_be_shared(*operation, chosen)) found.push_back(operation);
    for (AnyMemIntrinsic* const operation : found) move_block(*operation, writer);
}

} // namespace tulle::compiler
