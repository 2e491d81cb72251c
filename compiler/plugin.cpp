// SPDX-License-Identifier: Apache-2.0
// The plug-in of clang that writes checks of accesses to coherent memory into programs
// (include/tulle/coherent_abi.h). It runs twice over each function: ahead of the vectorizer, where
// loops have their simplest form, and after all else, where few accesses are left.
#include "atomic_changes.hpp"
#include "atomic_checks.hpp"
#include "block_checks.hpp"
#include "directory_checks.hpp"
#include "library_checks.hpp"
#include "loop_checks.hpp"
#include "loop_versions.hpp"
#include "point_checks.hpp"
#include "race_checks.hpp"
#include "spin_loops.hpp"
#include "static_locals.hpp"
#include "uninstrumented.hpp"
#include "vector_intrinsics.hpp"
#include "x86_fences.hpp"

#include <memory>

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_first_priority = 1; // of constructors: those of the program come later

synchronisation look_into(Module& module, FunctionAnalysisManager& analyses) {
    return synchronisation(module, [&](Function& f) -> TargetLibraryInfo const& {
        return analyses.getResult<TargetLibraryAnalysis>(f);
    });
}

// To be checked. What chooses one of several functions runs while the program is linked, before
// there is a run time.
bool has_code(Function const& f) {
    auto const resolves = [&f](GlobalIFunc const& i) { return i.getResolverFunction() == &f; };
    return !f.isDeclaration() && !f.hasAvailableExternallyLinkage() &&
           none_of(f.getParent()->ifuncs(), resolves);
}

// What states are looked up by: all addresses have 64 bits, and instructions are those of x86-64.
bool has_known_target(Module const& module) {
    return Triple(module.getTargetTriple()).getArch() == Triple::x86_64 &&
           module.getDataLayout().getPointerSizeInBits() == 64;
}

class early_pass : public PassInfoMixin<early_pass> {
public:
    PreservedAnalyses run(Function& function, FunctionAnalysisManager& analyses) {
        if (function.hasOptNone() || !checks_hold_on() || !has_code(function) ||
            !has_known_target(*function.getParent()))
            return PreservedAnalyses::all();
        if (m_module != function.getParent()) {
            m_module = function.getParent();
            m_synchronises = std::make_shared<synchronisation>(look_into(*m_module, analyses));
        }
        chosen_checks const chosen = chosen_checks::read();
        accesses_left left;
        bool changed = make_loop_versions(function, analyses, *m_synchronises, chosen, left);
        if (changed) analyses.invalidate(function, PreservedAnalyses::none());
        changed |= check_ahead_of_loops(function, analyses, *m_synchronises, chosen, left);
        return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }

private:
    Module* m_module = nullptr;
    std::shared_ptr<synchronisation> m_synchronises;
};

class late_pass : public PassInfoMixin<late_pass> {
public:
    PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
        auto const chosen = chosen_checks::read();
        if (chosen.are_none() || !has_known_target(module)) return PreservedAnalyses::all();
        auto& functions =
            analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
        for (Function& f : module) {
            if (!has_code(f)) continue;
            expand_changes(f);
            make_vectors_generic(f);
        }
        synchronisation const synchronises = look_into(module, functions);
        check_writer writer(module);
        list_uninstrumented(module);
        for (Function& f : module) {
            if (!has_code(f)) continue;
            switch (chosen_scheme()) {
                case scheme::states:
                case scheme::refresh:
                    check_by_states(f, chosen, synchronises, evolution_of(f, functions), writer);
                    break;
                case scheme::directory: check_by_directory(f, chosen, writer); break;
                case scheme::races: look_for_races(f, chosen, writer); break;
            }
        }
        call_start(module);
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }

private:
    // Of the function as it is now.
    static ScalarEvolution* evolution_of(Function& f, FunctionAnalysisManager& functions) {
        if (f.hasOptNone()) return nullptr;
        functions.invalidate(f, PreservedAnalyses::none());
        return &functions.getResult<ScalarEvolutionAnalysis>(f);
    }
    static void check_by_states(Function& f, chosen_checks chosen,
                                synchronisation const& synchronises, ScalarEvolution* evolution,
                                check_writer& writer) {
        auto const accesses = accesses_of(f, chosen);
        check_accesses(f, accesses, synchronises, evolution, writer);
        check_block_operations(f, chosen, writer);
        check_library_calls(f, chosen, synchronises, writer);
        check_fences(f, writer);
        check_atomics(accesses, writer);
    }
    static void check_by_directory(Function& f, chosen_checks chosen, check_writer& writer) {
        split_lanes(f);
        auto const accesses = accesses_of(f, chosen);
        compiler::check_by_directory(f, accesses, writer);
        move_blocks_by_directory(f, chosen, writer);
        lend_to_library(f, chosen, writer);
        check_atomics(accesses, writer);
    }
    static void look_for_races(Function& f, chosen_checks chosen, check_writer& writer) {
        split_lanes(f);
        auto const accesses = accesses_of(f, chosen);
        tell_accesses(f, chosen, accesses, writer);
        tell_library_calls(f, chosen, writer);
        check_atomics(accesses, writer);
    }
    static unsigned number_of(scheme by) {
        switch (by) {
            case scheme::directory: return TULLE_COHERENT_BY_DIRECTORY;
            case scheme::races: return TULLE_COHERENT_BY_RACES;
            case scheme::refresh: return TULLE_COHERENT_BY_REFRESH;
            default: return TULLE_COHERENT_BY_STATES;
        }
    }
    static void call_start(Module& module) {
        Type* const number = Type::getInt32Ty(module.getContext());
        unsigned const by = number_of(chosen_scheme()) << TULLE_COHERENT_SCHEME_SHIFT;
        auto const made = createSanitizerCtorAndInitFunctions(
            module, "tulle_coherent_start_of_object",
            chosen_scheme() == scheme::races ? "tulle_race_start" : "tulle_coherent_start",
            {number}, {ConstantInt::get(number, TULLE_COHERENT_ABI | by)});
        appendToGlobalCtors(module, made.first, k_first_priority);
    }
};

class first_pass : public PassInfoMixin<first_pass> {
public:
    PreservedAnalyses run(Module& module, ModuleAnalysisManager& /*analyses*/) {
        auto const chosen = chosen_checks::read();
        if (!chosen.are_none() && !has_known_target(module)) {
            module.getContext().emitError("tulle cc: checks are there for x86-64 with pointers of "
                                          "64 bits only, not for " +
                                          Twine(module.getTargetTriple()));
            return PreservedAnalyses::all();
        }
        if (!chosen.are_none()) {
            add_fences(module);
            guard_static_locals(module);
            list_spin_loops(module);
        }
        if (chosen_scheme() == scheme::races) keep_to_accesses_of_program(module);
        return PreservedAnalyses::all();
    }
    static bool isRequired() { return true; }
};

void add_passes(PassBuilder& builder) {
    builder.registerPipelineStartEPCallback(
        [](ModulePassManager& passes, auto...) { passes.addPass(first_pass()); });
    builder.registerVectorizerStartEPCallback(
        [](FunctionPassManager& passes, auto...) { passes.addPass(early_pass()); });
    builder.registerOptimizerLastEPCallback(
        [](ModulePassManager& passes, auto...) { passes.addPass(late_pass()); });
}

} // namespace

} // namespace tulle::compiler

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "tulle-coherent", "1", tulle::compiler::add_passes};
}
