// SPDX-License-Identifier: Apache-2.0
// Atomic and volatile accesses: where the home of the memory is another host, the run time does
// them there.
#pragma once

#include "check_writer.hpp"

namespace tulle::compiler {

void check_atomics(llvm::ArrayRef<access> accesses, check_writer& writer);

} // namespace tulle::compiler
