// SPDX-License-Identifier: Apache-2.0
// Checks of single accesses, without those that an earlier check makes redundant on every way to
// the access.
#pragma once

#include "check_writer.hpp"
#include "synchronisation.hpp"

#include "llvm/Analysis/ScalarEvolution.h"

namespace tulle::compiler {

// `evolution`: of addresses; null: nothing is to be found out about these.
void check_accesses(llvm::Function& function, llvm::ArrayRef<access> accesses,
                    synchronisation const& synchronises, llvm::ScalarEvolution* evolution,
                    check_writer& writer);

} // namespace tulle::compiler
