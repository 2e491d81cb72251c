// SPDX-License-Identifier: Apache-2.0
// Atomic and volatile accesses: where the home of the memory is another host, the run time does
// them there.
#pragma once

#include "check_writer.hpp"

namespace tulle::compiler {

// Fences between threads: what is released ahead of one, and acquired after it, is for other hosts,
// too.
void check_fences(llvm::Function& function, check_writer& writer);
void check_atomics(llvm::ArrayRef<access> accesses, check_writer& writer);

} // namespace tulle::compiler
