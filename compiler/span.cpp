// SPDX-License-Identifier: Apache-2.0
#include "span.hpp"

#include "loop_analyses.hpp"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_most_guards = 3;

// Up to so many bytes that nobody touches between two turns are checked as well: looking at the
// states of a few lines takes less time than looking at rows one by one.
constexpr unsigned k_small_gap = 4 * TULLE_COHERENT_LINE;

} // namespace

SCEV const* span_finder::word(SCEV const* value) {
    return m_of.evolution.getTruncateOrZeroExtend(value,
                                                  Type::getInt64Ty(value->getType()->getContext()));
}

// Of a span that changes from turn to turn by the same step, what all turns touch together; rows
// where the direction of the step is not known.
bool span_finder::fold_loop(span& s, Loop* loop, SCEV const* turns) {
    if (m_of.is_known_ahead(s.first, *loop) && m_of.is_known_ahead(s.last, *loop)) return true;
    auto const* const first = dyn_cast<SCEVAddRecExpr>(s.first);
    auto const* const last = dyn_cast<SCEVAddRecExpr>(s.last);
    if (!m_of.is_known_ahead(turns, *loop) || first == nullptr || last == nullptr ||
        first->getLoop() != loop || last->getLoop() != loop || !first->isAffine() ||
        !last->isAffine())
        return false;
    SCEV const* const step = first->getStepRecurrence(m_of.evolution);
    if (step != last->getStepRecurrence(m_of.evolution) || !m_of.is_known_ahead(step, *loop) ||
        !m_of.is_known_ahead(first->getStart(), *loop) ||
        !m_of.is_known_ahead(last->getStart(), *loop))
        return false;
    bool const goes_up = m_of.evolution.isKnownNonNegative(step);
    bool const goes_down = m_of.evolution.isKnownNegative(step);
    if ((!goes_up && !goes_down) || has_gaps(s, step)) {
        if (s.stride != nullptr) return false; // gaps in two dimensions
        s.stride = step;
        s.more = word(turns);
        s.first = first->getStart();
        s.last = last->getStart();
        return true;
    }
    SCEV const* const way = m_of.evolution.getMulExpr(word(turns), step);
    s.first = goes_up ? first->getStart() : m_of.evolution.getAddExpr(first->getStart(), way);
    s.last = goes_up ? m_of.evolution.getAddExpr(last->getStart(), way) : last->getStart();
    return true;
}

// Whether turns leave many lines between them alone, which a range would name as well.
bool span_finder::has_gaps(span const& s, SCEV const* step) {
    SCEV const* const length = m_of.evolution.getMinusSCEV(s.last, s.first);
    SCEV const* const dense = m_of.evolution.getAddExpr(
        length, m_of.evolution.getConstant(length->getType(), k_small_gap + 1));
    SCEV const* const way =
        m_of.evolution.isKnownNegative(step) ? m_of.evolution.getNegativeSCEV(step) : step;
    return !m_of.evolution.isKnownPredicate(ICmpInst::ICMP_SLE, way, dense);
}

// How often the access comes after its first time. Behind the only test whether the loop ends it
// comes once less than the test.
SCEV const* span_finder::turns_of(access const& a, Loop* loop, bool& is_touched) {
    SCEV const* const turns = m_of.evolution.getBackedgeTakenCount(loop);
    BasicBlock const* const test = loop->getExitingBlock();
    auto const* const number = dyn_cast<SCEVConstant>(turns);
    bool const comes_later = test != nullptr && number != nullptr && !number->isZero() &&
                             a.at->getParent() != test &&
                             m_of.dominators.dominates(test, a.at->getParent());
    if (!comes_later) return turns;
    is_touched = true;
    return m_of.evolution.getConstant(number->getAPInt() - 1);
}

// Whether nothing that a loop calls may stay away for ever. Functions of the C library that may be
// called in it come back.
bool span_finder::ends_by_itself(Loop const* loop) {
    auto const may_stay_away = [](Instruction const& i) {
        auto const* const call = dyn_cast<CallBase>(&i);
        if (call == nullptr || isGuaranteedToTransferExecutionToSuccessor(&i)) return false;
        Function const* const callee = call->getCalledFunction();
        return callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic() ||
               !call->doesNotThrow();
    };
    return none_of(loop->blocks(), [&](BasicBlock const* b) { return any_of(*b, may_stay_away); });
}

// Whether the first turn of the outer loop comes as far as the block, wherever it may end.
bool span_finder::is_always_reached(BasicBlock const* block, Loop const* outer) {
    SmallVector<BasicBlock*, 4> exiting;
    outer->getExitingBlocks(exiting);
    return all_of(exiting, [&](BasicBlock* b) { return m_of.dominators.dominates(block, b); });
}

// Whether a turn of the outer loop always reaches the inner one, but for conditions that are known
// ahead of the outer one. Ahead of a turn that ends before it the bounds of the inner one may be
// such that it would never run, and its number of turns anything.
bool span_finder::runs_in_each_turn(span& s, Loop* outer) {
    BasicBlock const* const latch = outer->getLoopLatch();
    Instruction const* const ahead = outer->getLoopPreheader()->getTerminator();
    BasicBlock const* block = s.loop->getLoopPreheader();
    for (int steps = 0; steps < k_most_guards && !m_of.dominators.dominates(block, latch);
         ++steps) {
        BasicBlock const* const before = block->getSinglePredecessor();
        auto const* const branch =
            before == nullptr ? nullptr : dyn_cast<BranchInst>(before->getTerminator());
        if (branch == nullptr || !outer->contains(before)) return false;
        if (branch->isConditional()) {
            Value* const condition = branch->getCondition();
            if (!outer->isLoopInvariant(condition) || !m_of.dominators.dominates(condition, ahead))
                return false;
            s.guards.push_back({condition, branch->getSuccessor(0) == block});
        }
        block = before;
    }
    return m_of.dominators.dominates(block, latch) && is_always_reached(block, outer);
}

bool span_finder::fold_outer_loop(span& s, Loop* outer) {
    span wider = s;
    if (!runs_in_each_turn(wider, outer) || !ends_by_itself(outer)) return false;
    if (s.stride != nullptr &&
        !(m_of.is_known_ahead(s.stride, *outer) && m_of.is_known_ahead(s.more, *outer)))
        return false;
    SCEV const* const length = m_of.evolution.getMinusSCEV(s.last, s.first);
    if (!m_of.is_known_ahead(length, *outer) ||
        !fold_loop(wider, outer, m_of.evolution.getBackedgeTakenCount(outer)))
        return false;
    Instruction const* const ahead = outer->getLoopPreheader()->getTerminator();
    for (guard const& g : wider.guards) // those of inner loops, too
        if (!m_of.dominators.dominates(g.condition, ahead)) return false;
    wider.loop = outer;
    s = wider;
    return true;
}

std::optional<span> span_finder::find(access const& a) {
    Loop* const loop = m_of.loops.getLoopFor(a.at->getParent());
    if (a.how == mode::atomic || a.lane >= 0 || loop == nullptr || !m_quiet(*loop) ||
        !m_of.dominators.dominates(a.at->getParent(), loop->getLoopLatch()))
        return std::nullopt;
    SCEV const* const first = number_of(m_of.evolution, a.pointer());
    if (isa<SCEVCouldNotCompute>(first)) return std::nullopt;
    SCEV const* const bytes = m_of.evolution.getConstant(first->getType(), a.bytes - 1);
    bool is_touched = is_always_reached(a.at->getParent(), loop);
    SCEV const* const turns = turns_of(a, loop, is_touched);
    SCEV const* const last = m_of.evolution.getAddExpr(first, bytes);
    span s{first, last, nullptr, nullptr, loop, a.how, is_touched, {}, {a.at}};
    s.is_touched &= !a.is_masked && ends_by_itself(loop);
    if (!fold_loop(s, loop, turns)) return std::nullopt;
    for (Loop* outer = loop->getParentLoop(); outer != nullptr && m_quiet(*outer);
         outer = outer->getParentLoop())
        if (!fold_outer_loop(s, outer)) break;
    return s;
}

} // namespace tulle::compiler
