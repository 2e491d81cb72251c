// SPDX-License-Identifier: Apache-2.0
#include "loop_analyses.hpp"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace tulle::compiler {

using namespace llvm;

loop_analyses loop_analyses::of(Function& function, FunctionAnalysisManager& analyses) {
    return {analyses.getResult<LoopAnalysis>(function),
            analyses.getResult<ScalarEvolutionAnalysis>(function),
            analyses.getResult<DominatorTreeAnalysis>(function)};
}

bool loop_analyses::simplify() const {
    bool changed = false;
    for (Loop* loop : loops)
        changed |= simplifyLoop(loop, &dominators, &loops, &evolution, nullptr, nullptr, false);
    return changed;
}

bool loop_analyses::is_known_ahead(SCEV const* value, Loop const& loop) const {
    Instruction const* const at = loop.getLoopPreheader()->getTerminator();
    if (isa<SCEVCouldNotCompute>(value) || !evolution.isLoopInvariant(value, &loop)) return false;
#if LLVM_VERSION_MAJOR >= 15
    SCEVExpander const expander(evolution, at->getModule()->getDataLayout(), "tulle.ahead");
    return expander.isSafeToExpandAt(value, at);
#else
    return isSafeToExpandAt(value, at, evolution);
#endif
}

SCEV const* number_of(ScalarEvolution& evolution, Value* pointer) {
    Type* const type = Type::getInt64Ty(pointer->getContext());
    return evolution.getPtrToIntExpr(evolution.getSCEV(pointer), type);
}

std::optional<std::int64_t> constant_difference(ScalarEvolution& evolution, SCEV const* a,
                                                SCEV const* b) {
    auto const* const found = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(a, b));
    if (found == nullptr) return std::nullopt;
    return found->getAPInt().getSExtValue();
}

} // namespace tulle::compiler
