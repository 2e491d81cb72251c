// SPDX-License-Identifier: Apache-2.0
#include "race_checks.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

bool may_synchronise(Instruction const& i) {
    return i.isAtomic() || i.isVolatile() || (isa<CallBase>(i) && !isa<IntrinsicInst>(i));
}

// One of more bytes than the run time knows: by it processes may be ordered, and nobody is told.
bool is_wide_atomic(access const& a) { return a.how != mode::atomic && a.at->isAtomic(); }

// Loads and stores of which another access to the same address in the same block tells all that
// there is to tell, with nothing in between that may order the two differently: an earlier one, or
// a later store of what is loaded.
class redundant_accesses {
public:
    redundant_accesses(Function& function, ArrayRef<access> accesses) {
        for (access const& a : accesses)
            if ((isa<LoadInst>(a.at) || isa<StoreInst>(a.at)) && !is_wide_atomic(a))
                m_all[a.at] = &a;
        for (BasicBlock& block : function) {
            look_at(block, [this](access const& a) { return is_known(a, true); });
            look_at(reverse(block),
                    [this](access const& a) { return a.how == mode::load && is_known(a, false); });
        }
    }
    [[nodiscard]] bool contain(access const& a) const { return m_found.count(a.at) != 0; }

private:
    struct known {
        std::uint64_t bytes;
        bool stores;
    };
    [[nodiscard]] bool is_known(access const& a, bool counts_loads) const {
        auto const other = m_known.find(a.pointer());
        if (other == m_known.end() || other->second.bytes < a.bytes) return false;
        return other->second.stores || (counts_loads && a.how == mode::load);
    }
    template <class Block, class IsRedundant>
    void look_at(Block&& block, IsRedundant is_redundant) {
        m_known.clear();
        for (Instruction& i : block) {
            if (may_synchronise(i)) m_known.clear();
            auto const found = m_all.find(&i);
            if (found == m_all.end() || found->second->how == mode::atomic) continue;
            access const& a = *found->second;
            if (is_redundant(a))
                m_found.insert(&i);
            else
                m_known[a.pointer()] = {a.bytes, a.how == mode::store};
        }
    }

    DenseMap<Instruction const*, access const*> m_all;
    DenseMap<Value const*, known> m_known;
    DenseSet<Instruction const*> m_found;
};

void tell(access const& a, check_writer& writer) {
    IRBuilder<> builder(a.at);
    Value* const address = writer.address_of(builder, a.pointer());
    Instruction* const inside = writer.when(writer.is_coherent(builder, address), a.at, false);
    auto* const store = dyn_cast<StoreInst>(a.at);
    if (store != nullptr && store->getValueOperand()->getType()->isPointerTy()) {
        builder.SetInsertPoint(inside);
        writer.call(inside, "tulle_race_store_pointer",
                    {address, writer.address_of(builder, store->getValueOperand())},
                    CallingConv::C);
        return;
    }
    writer.tell(inside, address, builder.getInt64(a.bytes), a.how);
}

void tell_block(AnyMemIntrinsic& operation, chosen_checks chosen, check_writer& writer) {
    IRBuilder<> builder(&operation);
    Value* const bytes = builder.CreateZExtOrTrunc(operation.getLength(), builder.getInt64Ty());
    auto const tell_side = [&](Value* pointer, mode how) {
        if (chosen.covers(how) && !is_private(pointer))
            writer.tell(&operation, writer.address_of(builder, pointer), bytes, how);
    };
    if (auto* const transfer = dyn_cast<AnyMemTransferInst>(&operation))
        tell_side(transfer->getRawSource(), mode::load);
    tell_side(operation.getRawDest(), mode::store);
}

void tell_fence(FenceInst& fence, check_writer& writer) {
    if (fence.getSyncScopeID() == SyncScope::SingleThread) return;
    Value* const order = ConstantInt::get(Type::getInt32Ty(fence.getContext()),
                                          unsigned(toCABI(fence.getOrdering())));
    writer.call(&fence, "tulle_race_fence", {order}, CallingConv::C);
}

} // namespace

void keep_to_accesses_of_program(Module& module) {
    for (Function& f : module)
        if (!f.isDeclaration()) f.addFnAttr(Attribute::SanitizeThread);
}

void tell_accesses(Function& function, chosen_checks chosen, ArrayRef<access> accesses,
                   check_writer& writer) {
    redundant_accesses const redundant(function, accesses);
    SmallVector<Instruction*, 8> others; // what is written cuts blocks apart
    for (Instruction& i : instructions(function))
        if (isa<AnyMemIntrinsic>(i) || isa<FenceInst>(i)) others.push_back(&i);
    for (access const& a : accesses)
        if (a.how != mode::atomic && !is_wide_atomic(a) && !redundant.contain(a)) tell(a, writer);
    for (Instruction* const i : others) {
        if (auto* const operation = dyn_cast<AnyMemIntrinsic>(i))
            tell_block(*operation, chosen, writer);
        else
            tell_fence(*cast<FenceInst>(i), writer);
    }
}

} // namespace tulle::compiler
