// SPDX-License-Identifier: Apache-2.0
// What words of a command line of clang ask for, those of response files (@file) among them.
#pragma once

#include "command.hpp"
#include "process.hpp"

#include <filesystem>

namespace tulle::tool {

// Whether clang called with these words links a program or a library.
bool links(arguments const& words);

// What it then makes: the word after -o, or a.out.
std::filesystem::path output_of(arguments const& words);

// A library, a program for any address, or an object file of several.
bool makes_no_program(arguments const& words);

// They choose the passes of LLVM that know no plug-ins, which clang 14 still has.
bool have_old_passes(arguments const& words);

} // namespace tulle::tool
