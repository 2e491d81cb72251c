// SPDX-License-Identifier: Apache-2.0
// What of a program has no checks of its accesses to coherent memory: the lists that the plug-in of
// clang has put into its object files, which the linker has joined.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tulle::tool {

// A sentence for each place; calls of functions that were compiled with checks are left out. Throws
// a failure if the file is no ELF file of 64 bits.
std::vector<std::string> uninstrumented_parts(std::filesystem::path const& program);

} // namespace tulle::tool
