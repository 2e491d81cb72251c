// SPDX-License-Identifier: Apache-2.0
#include "accesses.hpp"

#include <cstdlib>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace tulle::compiler {

namespace {

using namespace llvm;

constexpr unsigned k_depth_of_search = 12; // through selects, phis and pointer arithmetic
constexpr char const* k_mark_name = "tulle.coherent.covered";
constexpr std::uint64_t k_most_atomic_bytes = 8;

std::uint64_t bytes_of(Type* type, DataLayout const& layout) {
    return layout.getTypeStoreSize(type).getKnownMinValue(); // x86-64 has no scalable vectors
}

// Of a vector, that of its lanes.
value_kind kind_of(Type* type) {
    return type->isFPOrFPVectorTy() ? value_kind::floating_point : value_kind::integer;
}

bool gives_private_memory(CallBase const& call) {
    Function const* const callee = call.getCalledFunction();
    if (callee == nullptr || !callee->isDeclaration()) return false;
#if LLVM_VERSION_MAJOR >= 15
    if (callee->getIntrinsicID() == Intrinsic::threadlocal_address) return true;
#endif
    StringRef const name = callee->getName();
    return name == "malloc" || name == "calloc" || name == "realloc";
}

// Whether it loads where the virtual functions of an object are listed, among the constants.
bool is_pointer_to_functions(LoadInst const& load) {
    MDNode const* const kind = load.getMetadata(LLVMContext::MD_tbaa);
    return kind != nullptr && kind->isTBAAVtableAccess();
}

bool is_private_global(GlobalValue const& global) {
    auto const* const variable = dyn_cast_or_null<GlobalVariable>(global.getAliaseeObject());
    return variable == nullptr || variable->isConstant() || variable->isThreadLocal() ||
           !are_globals_shared();
}

bool is_private_object(Value const* object) {
    if (isa<AllocaInst>(object)) return true;
    if (auto const* global = dyn_cast<GlobalValue>(object)) return is_private_global(*global);
    if (auto const* argument = dyn_cast<Argument>(object)) return argument->hasByValAttr();
    if (auto const* load = dyn_cast<LoadInst>(object)) return is_pointer_to_functions(*load);
    auto const* const call = dyn_cast<CallBase>(object);
    return call != nullptr && gives_private_memory(*call);
}

// Collects the accesses of one instruction after the other.
class collector {
public:
    collector(DataLayout const& layout, chosen_checks chosen)
        : m_layout(layout), m_chosen(chosen) {}

    void visit(Instruction& i) {
        if (auto* load = dyn_cast<LoadInst>(&i))
            add(i, load->getPointerOperandIndex(), load->getType(), load->getAlign().value(),
                mode_of(*load, load->getType(), mode::load));
        else if (auto* store = dyn_cast<StoreInst>(&i))
            add(i, store->getPointerOperandIndex(), store->getValueOperand()->getType(),
                store->getAlign().value(),
                mode_of(*store, store->getValueOperand()->getType(), mode::store));
        else if (auto* change = dyn_cast<AtomicRMWInst>(&i))
            add(i, change->getPointerOperandIndex(), change->getType(), change->getAlign().value(),
                fits_atomic(change->getType()) ? mode::atomic : mode::store);
        else if (auto* compare = dyn_cast<AtomicCmpXchgInst>(&i))
            add(i, compare->getPointerOperandIndex(), compare->getNewValOperand()->getType(),
                compare->getAlign().value(),
                fits_atomic(compare->getNewValOperand()->getType()) ? mode::atomic : mode::store);
        else if (auto* call = dyn_cast<CallBase>(&i))
            visit_call(*call);
    }
    std::vector<access> take() { return std::move(m_found); }

private:
    bool fits_atomic(Type* type) const {
        return type->isSingleValueType() && !type->isVectorTy() &&
               bytes_of(type, m_layout) <= k_most_atomic_bytes &&
               isPowerOf2_64(m_layout.getTypeSizeInBits(type).getKnownMinValue()) &&
               m_layout.getTypeSizeInBits(type).getKnownMinValue() >= 8;
    }
    template <typename Access> mode mode_of(Access const& a, Type* type, mode plain) const {
        // One that is volatile and not aligned may lie in two units, and is no single access.
        bool const is_whole = a.isAtomic() || a.getAlign().value() >= bytes_of(type, m_layout);
        return (a.isVolatile() || a.isAtomic()) && is_whole && fits_atomic(type) ? mode::atomic
                                                                                 : plain;
    }
    void add(Instruction& at, unsigned operand, Type* type, std::uint64_t alignment, mode how,
             int lane = -1, bool is_masked = false) {
        if (!m_chosen.covers(how, kind_of(type)) || is_private(at.getOperand(operand))) return;
        m_found.push_back(
            {&at, operand, bytes_of(type, m_layout), alignment, how, lane, is_masked});
    }
    // Arguments are the first operands of a call.
    void add_masked(CallBase& call, unsigned argument, Type* type, mode how) {
        add(call, argument, type, 1, how, -1, true);
    }
    // The whole of a masked access counts: a check may name more than what is touched.
    void visit_call(CallBase& call) {
        switch (call.getIntrinsicID()) {
            case Intrinsic::masked_load:
            case Intrinsic::masked_expandload:
                return add_masked(call, 0, call.getType(), mode::load);
            case Intrinsic::masked_store:
            case Intrinsic::masked_compressstore:
                return add_masked(call, 1, call.getArgOperand(0)->getType(), mode::store);
            case Intrinsic::masked_gather: return add_lanes(call, 0, call.getType(), mode::load);
            case Intrinsic::masked_scatter:
                return add_lanes(call, 1, call.getArgOperand(0)->getType(), mode::store);
            default: return add_arguments_by_value(call);
        }
    }
    void add_lanes(CallBase& call, unsigned argument, Type* values, mode how) {
        auto const lanes = cast<FixedVectorType>(values)->getNumElements();
        for (unsigned lane = 0; lane < lanes; ++lane)
            add(call, argument, values->getScalarType(), 1, how, static_cast<int>(lane), true);
    }
    void add_arguments_by_value(CallBase& call) {
        for (unsigned k = 0; k < call.arg_size(); ++k)
            if (call.isByValArgument(k)) add(call, k, call.getParamByValType(k), 1, mode::load);
    }

    DataLayout const& m_layout;
    chosen_checks m_chosen;
    std::vector<access> m_found;
};

// The scope that marked instructions claim not to alias.
MDNode* scope_of(Module& module) {
    NamedMDNode* const named = module.getOrInsertNamedMetadata(k_mark_name);
    if (named->getNumOperands() == 0) {
        MDBuilder builder(module.getContext());
        named->addOperand(
            builder.createAnonymousAliasScope(builder.createAnonymousAliasScopeDomain()));
    }
    return named->getOperand(0);
}

} // namespace

bool are_globals_shared() {
    static bool const s_are = std::getenv("TULLE_COHERENT_GLOBALS") != nullptr;
    return s_are;
}

chosen_checks chosen_checks::read() {
    char const* const text = std::getenv("TULLE_COHERENT_CHECKS");
    StringRef const words = text == nullptr ? "all" : text;
    bool const all_loads = words == "all" || words == "loads";
    bool const may_load = chosen_scheme() != scheme::refresh;
    return {may_load && (all_loads || words == "int-loads"),
            may_load && (all_loads || words == "fp-loads"), words == "all" || words == "stores"};
}

scheme chosen_scheme() {
    char const* const text = std::getenv("TULLE_COHERENT_SCHEME");
    StringRef const word = text == nullptr ? "" : text;
    if (word == "directory") return scheme::directory;
    if (word == "refresh") return scheme::refresh;
    return word == "races" ? scheme::races : scheme::states;
}

bool is_private(Value const* pointer) {
    if (pointer->getType()->getPointerAddressSpace() != 0) return true;
    SmallVector<Value const*, 8> objects;
    getUnderlyingObjects(pointer, objects, nullptr, k_depth_of_search);
    return all_of(objects, is_private_object);
}

bool is_between_address_spaces(AnyMemIntrinsic const& operation) {
    auto const* const transfer = dyn_cast<AnyMemTransferInst>(&operation);
    return transfer != nullptr &&
           transfer->getDestAddressSpace() != transfer->getSourceAddressSpace();
}

std::vector<access> accesses_of(Function& function, chosen_checks chosen) {
    collector found(function.getParent()->getDataLayout(), chosen);
    for (Instruction& i : instructions(function))
        if (!is_marked(i)) found.visit(i);
    return found.take();
}

void mark(Instruction& instruction) {
    MDNode* const scope = scope_of(*instruction.getModule());
    MDNode* const list = MDNode::get(instruction.getContext(), {scope});
    instruction.setMetadata(
        LLVMContext::MD_noalias,
        MDNode::concatenate(instruction.getMetadata(LLVMContext::MD_noalias), list));
}

bool is_marked(Instruction const& instruction) {
    MDNode const* const scopes = instruction.getMetadata(LLVMContext::MD_noalias);
    NamedMDNode const* const named = instruction.getModule()->getNamedMetadata(k_mark_name);
    if (scopes == nullptr || named == nullptr) return false;
    return is_contained(scopes->operands(), static_cast<Metadata const*>(named->getOperand(0)));
}

} // namespace tulle::compiler
