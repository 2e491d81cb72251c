// SPDX-License-Identifier: Apache-2.0
#include "list_section.hpp"

#include "llvm/IR/DebugInfoMetadata.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr char const* k_section = ".tulle.uninstrumented";

std::string escaped(std::string const& line) {
    std::string text;
    for (char c : line) {
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\t' ? std::string("\\t") : std::string(1, c);
    }
    return text + "\\n";
}

} // namespace

void append_to_list(Module& module, std::set<std::string> lines) {
    lines.erase("");
    if (lines.empty()) return;
    std::string text = std::string(".pushsection ") + k_section + ",\"\",@progbits\n";
    for (std::string const& line : lines) text += ".ascii \"" + escaped(line) + "\"\n";
    module.appendModuleInlineAsm(text + ".popsection\n");
}

std::string place_of(Instruction const& instruction) {
    DebugLoc const& where = instruction.getDebugLoc();
    if (!where) return instruction.getModule()->getSourceFileName();
    return (where->getFilename() + ":" + Twine(where.getLine())).str();
}

} // namespace tulle::compiler
