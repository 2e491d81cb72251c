// SPDX-License-Identifier: Apache-2.0
// Checks ahead of calls of the C library, or of the system, that load or store blocks of memory.
#pragma once

#include "accesses.hpp"
#include "check_writer.hpp"

namespace tulle::compiler {

void check_library_calls(llvm::Function& function, chosen_checks chosen, check_writer& writer);

// Whether calls of that function get checks for all that it touches by its arguments.
bool is_checked_call(llvm::CallBase const& call);

} // namespace tulle::compiler
