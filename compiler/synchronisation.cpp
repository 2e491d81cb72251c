// SPDX-License-Identifier: Apache-2.0
#include "synchronisation.hpp"

#include "accesses.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tulle::compiler {

namespace {

using namespace llvm;

// What checks call, which takes away no right that another check has found; unlike what a program
// calls to synchronise.
bool is_of_checks(StringRef name) {
    for (char const* const one :
         {"tulle_coherent_load", "tulle_coherent_store", "tulle_coherent_load_range",
          "tulle_coherent_store_range", "tulle_coherent_load_rows", "tulle_coherent_store_rows",
          "tulle_coherent_copy", "tulle_coherent_fill", "tulle_coherent_string",
          "tulle_coherent_find", "tulle_coherent_borrow", "tulle_coherent_return",
          "tulle_coherent_use"})
        if (name == one) return true;
    return false;
}

// Beginnings of the names of functions that LLVM knows, and of which some synchronise: they lock,
// start or await processes, or call what the program has. A program may have operators new and
// delete of its own in any of its files.
bool is_loud(StringRef name) {
    for (char const* const one :
         {"qsort", "_Znw", "_Zna", "_Zdl", "_Zda", "__atomic_", "__cxa_guard_", "__kmpc_",
          "flockfile", "ftrylockfile", "funlockfile", "system", "popen", "pclose", "fork", "exec",
          "wait"})
        if (name.find(one) == 0) return true;
    return false;
}

// The other functions of libraries that LLVM knows compute, copy, allocate and print; they wait for
// nobody on another host. So do malloc and its kin where a program has its own, which it is asked
// to keep to (tulle-cc(1)): loops that allocate are many, and allocators that wait for others none.
bool is_quiet_library(Function const& callee, TargetLibraryInfo const& library) {
    if (is_of_checks(callee.getName())) return true;
    LibFunc function;
    return !callee.hasFnAttribute(Attribute::ReturnsTwice) && !is_loud(callee.getName()) &&
           library.getLibFunc(callee, function) && library.has(function);
}

// The program has said that it is no function of a library, whatever its name (-fno-builtin).
bool is_own(CallBase const& call, Function const& callee) {
    return callee.isDeclaration() && call.isNoBuiltin();
}

// __builtin_setjmp, between whose returns anything may happen.
bool comes_back_later(CallBase const& call) {
    return call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp ||
           call.hasFnAttr(Attribute::ReturnsTwice);
}

} // namespace

// All functions of the module are assumed to be quiet, until one is found to contain what is not.
synchronisation::synchronisation(Module& module, library_of library) {
    for (Function& f : module)
        if (f.isDeclaration() ? is_quiet_library(f, library(f)) : !f.isInterposable())
            m_quiet.insert(&f);
    auto const synchronises = [this](Instruction const& i) { return may_happen_at(i); };
    for (bool changed = true; changed;) {
        changed = false;
        for (Function& f : module)
            if (!f.isDeclaration() && m_quiet.count(&f) != 0 &&
                any_of(instructions(f), synchronises))
                changed = m_quiet.erase(&f);
    }
}

bool synchronisation::may_happen_in(Function const& callee) const {
    if (m_quiet.count(&callee) != 0) return false;
    return !callee.isDeclaration() || !callee.onlyReadsMemory() || !callee.doesNotThrow();
}

bool synchronisation::may_happen_at(Instruction const& instruction) const {
    if (isa<FenceInst>(instruction) || isa<AtomicRMWInst>(instruction) ||
        isa<AtomicCmpXchgInst>(instruction))
        return true;
    if (instruction.isAtomic()) return true;
    // It is done as an atomic one is, and may release what has been stored before.
    if (auto const* const store = dyn_cast<StoreInst>(&instruction))
        return store->isVolatile() && !is_private(store->getPointerOperand());
    auto const* const call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr) return false;
    if (isa<IntrinsicInst>(call)) return comes_back_later(*call);
    Function const* const callee = call->getCalledFunction();
    return callee == nullptr || is_own(*call, *callee) || may_happen_in(*callee);
}

} // namespace tulle::compiler
