// SPDX-License-Identifier: Apache-2.0
// Checks ahead of calls of the C library, or of the system, that load or store memory which they
// are given.
#pragma once

#include "accesses.hpp"
#include "check_writer.hpp"
#include "synchronisation.hpp"

namespace tulle::compiler {

void check_library_calls(llvm::Function& function, chosen_checks chosen,
                         synchronisation const& synchronises, check_writer& writer);
// Where races are looked for: tells of what they load and store.
void tell_library_calls(llvm::Function& function, chosen_checks chosen, check_writer& writer);
// By the directory, which keeps no lines usable: lends them copies, and takes back what they store.
void lend_to_library(llvm::Function& function, chosen_checks chosen, check_writer& writer);

// Whether calls of that function get checks for all that it touches by its arguments.
bool is_checked_call(llvm::CallBase const& call);

} // namespace tulle::compiler
