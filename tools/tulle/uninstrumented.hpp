// SPDX-License-Identifier: Apache-2.0
// What of a program has no checks of its accesses to coherent memory: the lists that the plug-in of
// clang has put into its object files, which the linker has joined.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tulle::tool {

// A sentence about functions of the program that were compiled by something else, if there are any.
// Both throw a failure if the file is no ELF file of 64 bits.
std::vector<std::string> functions_without_checks(std::filesystem::path const& program);

// That, and a sentence for each place of what has no checks; calls of functions that were compiled
// with checks are left out.
std::vector<std::string> uninstrumented_parts(std::filesystem::path const& program);

} // namespace tulle::tool
