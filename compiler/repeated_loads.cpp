// SPDX-License-Identifier: Apache-2.0
#include "repeated_loads.hpp"

#include <algorithm>

#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ValueTracking.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

bool may_be_copied(Instruction const& i) {
    return !isa<PHINode>(i) && !i.isTerminator() && !i.mayReadOrWriteMemory() &&
           !i.getType()->isTokenTy() && isSafeToSpeculativelyExecute(&i);
}

} // namespace

repeated_loads::repeated_loads(Loop& loop, LoopInfo& loops, DominatorTree const& dominators)
    : m_loop(loop), m_dominators(dominators) {
    LoopBlocksRPO order(&loop);
    order.perform(&loops);
    bool is_behind_store = false;
    for (BasicBlock* const block : order)
        for (Instruction& i : *block) {
            look_at(i, is_behind_store);
            is_behind_store |= i.mayWriteToMemory();
        }
}

bool repeated_loads::is_steady(Value* value) const {
    auto* const i = dyn_cast<Instruction>(value);
    return i == nullptr || !m_loop.contains(i) || m_first.count(i) != 0;
}

Value* repeated_loads::first_like(Value* value) const {
    auto const found = m_first.find(dyn_cast<Instruction>(value));
    return found == m_first.end() ? value : found->second;
}

bool repeated_loads::is_like(Instruction const& a, Instruction const& b) const {
    return a.isSameOperationAs(&b) &&
           std::equal(a.value_op_begin(), a.value_op_end(), b.value_op_begin(),
                      [&](Value const* x, Value const* y) {
                          return first_like(const_cast<Value*>(x)) ==
                                 first_like(const_cast<Value*>(y));
                      });
}

bool repeated_loads::depends_on_loads(Value* value) const {
    auto* const i = dyn_cast<Instruction>(value);
    if (i == nullptr || !m_loop.contains(i)) return false;
    return isa<LoadInst>(i) || any_of(i->operands(), [&](Value* v) { return depends_on_loads(v); });
}

// Whether the first turn loads from there in any case: what is loaded ahead of a store might not be
// an address yet.
bool repeated_loads::is_loaded_first(LoadInst const& load, bool is_behind_store) const {
    BasicBlock const* const block = load.getParent();
    return m_dominators.dominates(block, m_loop.getLoopLatch()) &&
           m_dominators.dominates(block, m_loop.getExitingBlock()) &&
           !(is_behind_store && depends_on_loads(const_cast<Value*>(load.getPointerOperand())));
}

void repeated_loads::look_at(Instruction& i, bool is_behind_store) {
    auto* const load = dyn_cast<LoadInst>(&i);
    bool const fits = load != nullptr ? load->isSimple() && (load->getType()->isPointerTy() ||
                                                             load->getType()->isIntegerTy())
                                      : may_be_copied(i);
    if (!fits || !all_of(i.operands(), [&](Value* v) { return is_steady(v); })) return;
    auto* const like =
        find_if(m_all_first, [&](Instruction const* other) { return is_like(i, *other); });
    if (like != m_all_first.end()) {
        m_first[&i] = *like;
        return;
    }
    if (load != nullptr && !is_loaded_first(*load, is_behind_store)) return;
    m_first[&i] = &i;
    m_all_first.push_back(&i);
}

void repeated_loads::want_for(access const& a) {
    if (isa<LoadInst>(a.at) && m_first.count(a.at) != 0) return; // comes by whoever uses it
    want(a.pointer());
}

void repeated_loads::want(Value* value) {
    auto* const i = dyn_cast<Instruction>(first_like(value));
    if (i == nullptr || !m_loop.contains(i) || isa<PHINode>(i) || !m_seen.insert(i).second) return;
    bool const is_first = m_first.count(i) != 0;
    if (!is_first && i->mayReadOrWriteMemory()) return;
    for (Value* const operand : i->operands()) want(operand);
    if (auto* const load = dyn_cast<LoadInst>(i)) m_wanted.insert(load);
}

Value* repeated_loads::copy(Value* value) {
    auto* const i = dyn_cast<Instruction>(first_like(value));
    if (i == nullptr || !m_loop.contains(i)) return value;
    if (auto const known = m_copies.find(i); known != m_copies.end()) return known->second;
    Instruction* const made = i->clone();
    for (Use& operand : made->operands()) operand.set(copy(operand.get()));
    made->dropUnknownNonDebugMetadata();
    made->dropPoisonGeneratingFlags();
    made->insertBefore(m_loop.getLoopPreheader()->getTerminator());
    if (i->hasName()) made->setName(i->getName() + ".ahead");
    m_copies[i] = made;
    m_made.push_back(made);
    return made;
}

void repeated_loads::copy_ahead() {
    for (LoadInst* const load : m_wanted) copy(load);
}

LoadInst* repeated_loads::copy_of(LoadInst* load) const {
    return cast<LoadInst>(m_copies.lookup(load));
}

void repeated_loads::remove_copies() {
    while (!m_made.empty()) m_made.pop_back_val()->eraseFromParent();
    m_copies.clear();
}

ValueToSCEVMapTy repeated_loads::values(ScalarEvolution& evolution) const {
    ValueToSCEVMapTy all;
    for (auto const& [value, first] : m_first)
        if (Instruction* const made = m_copies.lookup(first))
            if (evolution.isSCEVable(value->getType())) all[value] = evolution.getSCEV(made);
    return all;
}

SmallVector<LoadInst*, 8> repeated_loads::loaded_ahead() const {
    SmallVector<LoadInst*, 8> found;
    for (auto const& [value, first] : m_first) {
        auto* const load = dyn_cast<LoadInst>(value);
        if (load != nullptr && m_copies.count(first) != 0 &&
            !depends_on_loads(load->getPointerOperand()))
            found.push_back(load);
    }
    return found;
}

void repeated_loads::replace() {
    for (auto const& [value, first] : m_first) {
        Instruction* const made = m_copies.lookup(first);
        if (made != nullptr) value->replaceAllUsesWith(made);
    }
    for (auto const& [value, first] : m_first)
        if (m_copies.count(first) != 0) value->eraseFromParent();
}

} // namespace tulle::compiler
