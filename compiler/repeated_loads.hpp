// SPDX-License-Identifier: Apache-2.0
// Pointers that each turn of a loop loads again, as some store of the loop might change them: of
// rows of a matrix, for one. They are what they were ahead of the loop if no store meets them.
#pragma once

#include "accesses.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"

namespace tulle::compiler {

class repeated_loads {
public:
    // The loop has one place where it may end, no other loop inside, and nothing stores to memory
    // in it but simple stores.
    repeated_loads(llvm::Loop& loop, llvm::LoopInfo& loops, llvm::DominatorTree const& dominators);

    // Takes those that the address of an access is made of.
    void want_for(access const& a);
    [[nodiscard]] llvm::ArrayRef<llvm::LoadInst*> wanted() const { return m_wanted.getArrayRef(); }

    // Loads what is wanted ahead of the loop; without a store that meets it the loop does so first
    // of all.
    void copy_ahead();
    [[nodiscard]] llvm::LoadInst* copy_of(llvm::LoadInst* load) const;
    void remove_copies();
    // What SCEV may take for values of the loop.
    [[nodiscard]] llvm::ValueToSCEVMapTy values(llvm::ScalarEvolution& evolution) const;
    // Those of the loop that load what a copy loads, too, as long as there is that copy.
    [[nodiscard]] llvm::SmallVector<llvm::LoadInst*, 8> loaded_ahead() const;
    // The loop uses the copies.
    void replace();

private:
    [[nodiscard]] bool is_steady(llvm::Value* value) const;
    [[nodiscard]] llvm::Value* first_like(llvm::Value* value) const;
    [[nodiscard]] bool is_like(llvm::Instruction const& a, llvm::Instruction const& b) const;
    [[nodiscard]] bool is_loaded_first(llvm::LoadInst const& load, bool is_behind_store) const;
    [[nodiscard]] bool depends_on_loads(llvm::Value* value) const;
    void look_at(llvm::Instruction& i, bool is_behind_store);
    void want(llvm::Value* value);
    llvm::Value* copy(llvm::Value* value);

    llvm::Loop& m_loop;
    llvm::DominatorTree const& m_dominators;
    // Of an instruction that makes the same in each turn: the first one that makes this.
    llvm::DenseMap<llvm::Instruction*, llvm::Instruction*> m_first;
    llvm::SmallVector<llvm::Instruction*, 16> m_all_first;
    llvm::SmallSetVector<llvm::LoadInst*, 8> m_wanted;
    llvm::SmallPtrSet<llvm::Instruction*, 16> m_seen;
    llvm::DenseMap<llvm::Instruction*, llvm::Instruction*> m_copies;
    llvm::SmallVector<llvm::Instruction*, 16> m_made; // copies, in order
};

} // namespace tulle::compiler
