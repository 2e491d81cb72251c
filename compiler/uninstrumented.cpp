// SPDX-License-Identifier: Apache-2.0
#include "uninstrumented.hpp"

#include "accesses.hpp"
#include "atomic_changes.hpp"
#include "library_checks.hpp"
#include "list_section.hpp"

#include <set>
#include <string>
#include <utility>

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

bool takes_shared_pointer(CallBase const& call) {
    return any_of(call.args(), [](Use const& argument) {
        return argument->getType()->isPointerTy() && !isa<Constant>(argument) &&
               !is_private(argument);
    });
}

// These neither read nor write what they are given.
bool only_takes_address(StringRef name) {
    return name.find("tulle_") == 0 || name == "free" || name == "_ZdlPv" || name == "_ZdlPvm" ||
           name.find("__cxa_") == 0;
}

// Instructions of x86 that touch memory, but for hints and what is a plain access by now.
std::string line_of(IntrinsicInst const& instruction) {
    StringRef const name = instruction.getCalledFunction()->getName();
    bool const is_hint = any_of(ArrayRef<char const*>{"prefetch", "gatherpf", "scatterpf",
                                                      "clflush", "clwb", "cldemote", "monitor"},
                                [&](char const* hint) { return name.contains(hint); });
    if (name.find("llvm.x86.") != 0 || is_hint || !takes_shared_pointer(instruction)) return "";
    return "instruction\t" + name.str() + "\t" + instruction.getFunction()->getName().str() + "\t" +
           place_of(instruction);
}

std::string line_of(CallBase const& call) {
    std::string const caller = call.getFunction()->getName().str();
    if (auto const* instruction = dyn_cast<IntrinsicInst>(&call)) return line_of(*instruction);
    if (auto const* assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
        bool const may_touch = takes_shared_pointer(call) || assembly->getConstraintString().find(
                                                                 "{memory}") != std::string::npos;
        bool const is_empty = assembly->getAsmString().empty(); // a barrier for the compiler
        return may_touch && !is_empty ? "assembly\t" + caller + "\t" + place_of(call) : "";
    }
    Function const* const callee = call.getCalledFunction();
    if (is_checked_call(call)) return "";
    if (callee == nullptr || !callee->isDeclaration() || only_takes_address(callee->getName()) ||
        !takes_shared_pointer(call))
        return "";
    return "call\t" + callee->getName().str() + "\t" + caller + "\t" + place_of(call);
}

bool is_word(Type const& type) { return type.getPrimitiveSizeInBits().getKnownMinValue() <= 64; }

std::string line_of_atomic(Instruction const& i, Value const* pointer) {
    if (is_private(pointer)) return "";
    return "atomic\t" + i.getFunction()->getName().str() + "\t" + place_of(i);
}

// Of atomic operations that the run time cannot do elsewhere.
std::string line_of(AtomicRMWInst const& change) {
    bool const is_known =
        is_change_of_run_time(change.getOperation()) && is_word(*change.getType());
    return is_known ? "" : line_of_atomic(change, change.getPointerOperand());
}

std::string line_of(AtomicCmpXchgInst const& exchange) {
    return is_word(*exchange.getNewValOperand()->getType())
               ? ""
               : line_of_atomic(exchange, exchange.getPointerOperand());
}

} // namespace

void list_uninstrumented(Module& module) {
    std::set<std::string> lines;
    for (Function const& f : module) {
        if (!f.isDeclaration()) lines.insert("define\t" + f.getName().str());
        for (Instruction const& i : instructions(f)) {
            if (auto const* call = dyn_cast<CallBase>(&i)) lines.insert(line_of(*call));
            if (auto const* change = dyn_cast<AtomicRMWInst>(&i)) lines.insert(line_of(*change));
            if (auto const* exchange = dyn_cast<AtomicCmpXchgInst>(&i))
                lines.insert(line_of(*exchange));
        }
    }
    append_to_list(module, std::move(lines));
}

} // namespace tulle::compiler
