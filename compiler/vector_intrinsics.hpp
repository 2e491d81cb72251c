// SPDX-License-Identifier: Apache-2.0
// Masked accesses by intrinsics of x86, as immintrin.h has them (_mm256_maskload_ps,
// _mm_maskmoveu_si128, gathers and scatters): they become those of LLVM, which all checks know.
#pragma once

#include "llvm/IR/Function.h"

namespace tulle::compiler {

// Those of memory that may be shared.
void make_vectors_generic(llvm::Function& function);

} // namespace tulle::compiler
