// SPDX-License-Identifier: Apache-2.0
// Instructions of x86 that order memory and that programs use by their own names, as _mm_mfence.
#pragma once

#include "llvm/IR/Module.h"

namespace tulle::compiler {

// Called ahead of all optimizations. A fence of LLVM, for which x86 needs no instruction, stands
// beside each from then on, so that it counts as what it is.
void add_fences(llvm::Module& module);

} // namespace tulle::compiler
