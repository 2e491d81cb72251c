// SPDX-License-Identifier: Apache-2.0
// Checks of memcpy, memmove and memset, as intrinsics of the compiler.
#pragma once

#include "check_writer.hpp"

namespace tulle::compiler {

void check_block_operations(llvm::Function& function, chosen_checks chosen, check_writer& writer);

} // namespace tulle::compiler
