// SPDX-License-Identifier: Apache-2.0
// Where a check ends to hold: at what may synchronise with other hosts.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Function.h"

namespace tulle::compiler {

// Says of each instruction of a module whether it may synchronise. Functions of the module are
// looked into once, when this is made; those that come later count as if they did.
class synchronisation {
public:
    using library_of = llvm::function_ref<llvm::TargetLibraryInfo const&(llvm::Function&)>;

    synchronisation(llvm::Module& module, library_of library);

    [[nodiscard]] bool may_happen_at(llvm::Instruction const& instruction) const;
    [[nodiscard]] bool may_happen_in(llvm::Function const& callee) const;

private:
    llvm::DenseSet<llvm::Function const*> m_quiet; // defined here, or of the C library
};

} // namespace tulle::compiler
