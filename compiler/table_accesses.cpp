// SPDX-License-Identifier: Apache-2.0
#include "table_accesses.hpp"

#include "loop_copies.hpp"

#include <algorithm>
#include <cstdlib>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr int k_most_steps = 6; // from an index to what bounds it
// Of a larger table a loop may touch a small part, however many turns it has.
constexpr std::uint64_t k_most_elements = std::uint64_t{1} << 16;
constexpr std::uint64_t k_most_bytes_of_element = 256;

IRBuilder<> ahead_of(Loop const& loop) {
    return IRBuilder<>(loop.getLoopPreheader()->getTerminator());
}

struct counted_step {
    Value* index;
    std::uint64_t size; // of what it counts
};

// The steps from the object to where the pointer leads whose number is not constant.
SmallVector<counted_step, 4> steps_to(Value* pointer, DataLayout const& layout) {
    SmallVector<counted_step, 4> all;
    while (auto* const step = dyn_cast<GEPOperator>(pointer->stripPointerCasts())) {
        for (auto k = gep_type_begin(step); k != gep_type_end(step); ++k)
            if (k.isSequential() && !isa<Constant>(k.getOperand()))
                all.push_back({k.getOperand(),
                               layout.getTypeAllocSize(k.getIndexedType()).getKnownMinValue()});
        pointer = step->getPointerOperand();
    }
    return all;
}

// What the program computes the index by; null: that is not known. Scalar evolution makes a
// difference of the rest of a division, whose divisor it does not name any more.
Value* value_of(SCEV const* index, Value* pointer, ScalarEvolution& evolution,
                DataLayout const& layout) {
    for (counted_step const& step : steps_to(pointer, layout))
        if (evolution.getSCEV(step.index) == index) return step.index;
    // One that is not negative stays the same, whichever way it is made wider.
    if (isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(index))
        index = cast<SCEVIntegralCastExpr>(index)->getOperand();
    auto const* const value = dyn_cast<SCEVUnknown>(index);
    return value == nullptr ? nullptr : value->getValue();
}

} // namespace

bool table_finder::is_known_ahead(Value* value, Loop const& loop) const {
    return loop.isLoopInvariant(value) &&
           m_of.dominators.dominates(value, loop.getLoopPreheader()->getTerminator());
}

// The sum of what does not change and of an index times a size. Of an index that is itself a sum,
// its parts are among those of the address, each times the size.
std::optional<table_finder::parts> table_finder::take_apart(Value* pointer, Loop const& loop) {
    ScalarEvolution& evolution = m_of.evolution;
    auto const* const sum = dyn_cast<SCEVAddExpr>(number_of(evolution, pointer));
    if (sum == nullptr) return std::nullopt;
    SmallVector<SCEV const*, 4> same;
    SmallVector<SCEV const*, 4> others;
    for (SCEV const* part : sum->operands())
        (evolution.isLoopInvariant(part, &loop) ? same : others).push_back(part);
    if (same.empty() || others.empty()) return std::nullopt;
    SCEV const* const start = evolution.getAddExpr(same);
    if (!m_of.is_known_ahead(start, loop)) return std::nullopt;
    if (others.size() == 1) return take_product_apart(start, others.front());
    SCEV const* const changing = evolution.getAddExpr(others);
    for (counted_step const& step : steps_to(pointer, m_layout)) {
        SCEV const* const index = evolution.getSCEV(step.index);
        if (step.size <= k_most_bytes_of_element && index->getType() == changing->getType() &&
            evolution.getMulExpr(index, evolution.getConstant(index->getType(), step.size)) ==
                changing)
            return parts{start, index, step.size};
    }
    return std::nullopt;
}

std::optional<table_finder::parts> table_finder::take_product_apart(SCEV const* start,
                                                                    SCEV const* changing) {
    auto const* const product = dyn_cast<SCEVMulExpr>(changing);
    if (product == nullptr) return parts{start, changing, 1};
    auto const* const size = dyn_cast<SCEVConstant>(product->getOperand(0));
    if (product->getNumOperands() != 2 || size == nullptr ||
        size->getAPInt().ugt(k_most_bytes_of_element))
        return std::nullopt;
    return parts{start, product->getOperand(1), size->getAPInt().getZExtValue()};
}

std::optional<table_finder::bound> table_finder::bound_of(SCEV const* index, Value* pointer,
                                                          Loop const& loop) {
    IRBuilder<> builder = ahead_of(loop);
    APInt const most = m_of.evolution.getUnsignedRangeMax(index);
    if (most.ult(k_most_elements)) return bound{builder.getInt64(most.getZExtValue()), nullptr};
    Value* const value = value_of(index, pointer, m_of.evolution, m_layout);
    if (value == nullptr) return std::nullopt;
    auto found = bound_of(value, loop, k_most_steps);
    if (found) found->most = builder.CreateZExt(found->most, builder.getInt64Ty());
    return found;
}

// Of what has no bits but those of the mask.
std::optional<table_finder::bound> table_finder::bound_of_mask(Value* mask, Loop const& loop) {
    if (!is_known_ahead(mask, loop)) return std::nullopt;
    IRBuilder<> builder = ahead_of(loop);
    mask = builder.CreateFreeze(mask);
    return bound{mask, builder.CreateICmpSGE(mask, ConstantInt::get(mask->getType(), 0))};
}

std::optional<table_finder::bound> table_finder::bound_of(Value* index, Loop const& loop,
                                                          int depth) {
    auto* const made = dyn_cast<Instruction>(index);
    if (made == nullptr || depth == 0) return std::nullopt;
    IRBuilder<> builder = ahead_of(loop);
    auto const inner = [&](unsigned operand) {
        return bound_of(made->getOperand(operand), loop, depth - 1);
    };
    switch (made->getOpcode()) {
        case Instruction::And:
            for (unsigned const k : {1U, 0U})
                if (auto const found = bound_of_mask(made->getOperand(k), loop)) return found;
            for (unsigned const k : {1U, 0U})
                if (auto const found = inner(k)) return found;
            return std::nullopt;
        case Instruction::LShr:
        case Instruction::AShr: {
            auto found = inner(0);
            if (!found || !is_known_ahead(made->getOperand(1), loop)) return std::nullopt;
            found->most =
                builder.CreateFreeze(builder.CreateLShr(found->most, made->getOperand(1)));
            return found;
        }
        case Instruction::URem: {
            if (!is_known_ahead(made->getOperand(1), loop)) return std::nullopt;
            Value* const divisor = builder.CreateFreeze(made->getOperand(1));
            Value* const one = ConstantInt::get(divisor->getType(), 1);
            return bound{builder.CreateSub(divisor, one), builder.CreateICmpSGE(divisor, one)};
        }
        case Instruction::ZExt:
        case Instruction::SExt: {
            auto found = inner(0);
            if (found) found->most = builder.CreateZExt(found->most, made->getType());
            return found;
        }
        default: return std::nullopt;
    }
}

// The bound, and whether the loop has at least as many turns as there are elements up to it.
std::optional<table_finder::bound> table_finder::guarded_bound_of(SCEV const* index, Value* pointer,
                                                                  Loop const& loop) {
    auto& known = m_known[{index, &loop}];
    if (known) return known; // where it has none, another pointer may tell more of the index
    ScalarEvolution& evolution = m_of.evolution;
    SCEV const* const turns = evolution.getBackedgeTakenCount(&loop);
    if (!m_of.is_known_ahead(turns, loop) || evolution.getTypeSizeInBits(turns->getType()) > 64)
        return std::nullopt;
    auto const found = bound_of(index, pointer, loop);
    if (!found) return std::nullopt;
    IRBuilder<> builder = ahead_of(loop);
    Type* const word = builder.getInt64Ty();
    SCEVExpander expander(evolution, m_layout, "tulle.table");
    Value* const count = builder.CreateFreeze(expander.expandCodeFor(
        evolution.getTruncateOrZeroExtend(turns, word), word, &*builder.GetInsertPoint()));
    Value* holds =
        builder.CreateAnd(builder.CreateICmpULE(found->most, count),
                          builder.CreateICmpULT(found->most, builder.getInt64(k_most_elements)));
    if (found->holds != nullptr) holds = builder.CreateAnd(holds, found->holds);
    if (auto const* const constant = dyn_cast<ConstantInt>(holds))
        if (constant->isZero()) return std::nullopt;
    known = bound{found->most, holds};
    return known;
}

// Neither the product of index and size nor the sum goes around where the guard holds.
std::optional<span> table_finder::find(access const& a) {
    Loop* const loop = m_of.loops.getLoopFor(a.at->getParent());
    if (a.how == mode::atomic || a.lane >= 0 || a.is_masked || a.bytes > TULLE_COHERENT_LINE ||
        loop == nullptr || !m_quiet(*loop))
        return std::nullopt;
    ScalarEvolution& evolution = m_of.evolution;
    auto const address = take_apart(a.pointer(), *loop);
    auto const limit =
        address ? guarded_bound_of(address->index, a.pointer(), *loop) : std::nullopt;
    if (!limit) return std::nullopt;
    Type* const word = Type::getInt64Ty(a.at->getContext());
    SCEV const* const way = evolution.getMulExpr(evolution.getSCEV(limit->most),
                                                 evolution.getConstant(word, address->size));
    SCEV const* const last = evolution.getAddExpr(evolution.getAddExpr(address->start, way),
                                                  evolution.getConstant(word, a.bytes - 1));
    return span{address->start,         last,  nullptr, nullptr, loop, a.how, false,
                {{limit->holds, true}}, {a.at}};
}

element_checks::element element_checks::element_of(access const& a, span const& table) {
    return {a,          number_of(m_of.evolution, a.pointer()),
            0,          static_cast<std::int64_t>(a.bytes) - 1,
            table.loop, table.guards.front().condition,
            a.how,      !a.may_straddle_lines()};
}

// Takes along what comes later, by the same address but for a few bytes. Who may store may load.
bool element_checks::share(element& e, element const& other) {
    if (e.loop != other.loop || e.holds != other.holds) return false;
    auto const way = constant_difference(m_of.evolution, other.address, e.address);
    if (!way || std::abs(*way) >= TULLE_COHERENT_LINE) return false;
    std::int64_t const first = std::min(e.first, other.first + *way);
    std::int64_t const last = std::max(e.last, other.last + *way);
    bool const grows = first != e.first || last != e.last;
    bool const is_all = first == other.first + *way && last == other.last + *way;
    if (last - first >= TULLE_COHERENT_LINE ||
        (e.how != other.how && (e.how == mode::store ? grows : !is_all)))
        return false;
    e.is_one &= !grows && other.is_one;
    e.first = first;
    e.last = last;
    if (other.how == mode::store) e.how = mode::store;
    return true;
}

// Of two one dominates the other, and they are in any order here.
void element_checks::add(access const& a, span const& table) {
    element const added = element_of(a, table);
    for (element& e : m_all) {
        element both = comes_before(e, added) ? e : added;
        if (!share(both, comes_before(e, added) ? added : e)) continue;
        e = both;
        return;
    }
    m_all.push_back(added);
}

bool element_checks::join(access const& a, span const& table) {
    element const added = element_of(a, table);
    return any_of(m_all, [&](element& e) {
        bool const may = added.how == mode::load || e.how == mode::store;
        return may && comes_before(e, added) && share(e, added);
    });
}

// Checks ahead of loops have cut blocks apart since the loops were looked at.
void element_checks::make_versions() {
    if (m_all.empty()) return;
    DominatorTree dominators(*m_all.front().by.at->getFunction());
    LoopInfo loops(dominators);
    MapVector<BasicBlock*, SmallVector<element*, 4>> by_header;
    for (element& e : m_all) by_header[e.loop->getHeader()].push_back(&e);
    for (auto const& [header, elements] : by_header) {
        Loop* const loop = loops.getLoopFor(header);
        if (!can_be_copied(*loop, loops)) continue;
        SmallSetVector<Value*, 4> guards;
        for (element const* e : elements) guards.insert(e->holds);
        IRBuilder<> builder(loop->getLoopPreheader()->getTerminator());
        Value* const all_hold = builder.CreateFreeze(builder.CreateAnd(guards.getArrayRef()));
        if (isa<Constant>(all_hold)) continue;
        ValueToValueMapTy copies;
        copy_loop(*loop, all_hold, 0, loops, dominators, nullptr, copies);
        for (element* e : elements) {
            e->by.at = cast<Instruction>(static_cast<Value*>(copies[e->by.at]));
            e->is_always_checked = guards.size() == 1;
        }
    }
}

void element_checks::write(check_writer& writer) {
    make_versions();
    for (element const& e : m_all) {
        Instruction* const before = e.by.at;
        IRBuilder<> builder(before);
        Instruction* const at =
            e.is_always_checked ? before : writer.when(builder.CreateNot(e.holds), before, true);
        writer.check_bytes(at, {e.by.pointer(), e.first,
                                static_cast<std::uint64_t>(e.last - e.first + 1), !e.is_one, false,
                                e.how});
    }
}

} // namespace tulle::compiler
