// SPDX-License-Identifier: Apache-2.0
// What is to be told of a program at its link lies in a section of the object files, which takes no
// memory at run time; the linker joins the lists, and `tulle cc --list` prints them as sentences.
#pragma once

#include <set>
#include <string>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tulle::compiler {

// Lines are words with tabs between them (tools/tulle/uninstrumented.cpp). Those that are empty are
// left out.
void append_to_list(llvm::Module& module, std::set<std::string> lines);

// File and line, or the file alone where the program is compiled without -g.
std::string place_of(llvm::Instruction const& instruction);

} // namespace tulle::compiler
