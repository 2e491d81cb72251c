// SPDX-License-Identifier: Apache-2.0
#include "loop_versions.hpp"

#include "loop_analyses.hpp"
#include "loop_copies.hpp"
#include "repeated_loads.hpp"

#include <optional>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::size_t k_most_comparisons = 24; // of ranges
constexpr unsigned k_fewest_turns = 8;
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 47; // of all addresses of a process
constexpr std::int64_t k_near = 256;
constexpr unsigned k_weight_of_usual_version = 1000;

// Bytes of memory, as expressions of what is known ahead of a loop.
struct byte_range {
    SCEV const* first;
    SCEV const* last;
};
using byte_ranges = SmallVector<byte_range, 4>;

struct range_values {
    Value* first;
    Value* last;
};

// Nothing of it may write to memory but simple stores, whose addresses can be compared, and what
// begins comes to its end.
bool is_simple(Instruction const& i, synchronisation const& synchronises) {
    if (auto const* store = dyn_cast<StoreInst>(&i))
        return store->isSimple() && store->getPointerAddressSpace() == 0;
    if (auto const* load = dyn_cast<LoadInst>(&i))
        return load->isSimple() && load->getPointerAddressSpace() == 0;
    return !i.mayWriteToMemory() && isGuaranteedToTransferExecutionToSuccessor(&i) &&
           !synchronises.may_happen_at(i);
}

bool fits(Loop& loop, LoopInfo& loops, synchronisation const& synchronises) {
    if (!can_be_copied(loop, loops)) return false;
    bool stores = false;
    for (BasicBlock const* block : loop.blocks())
        for (Instruction const& i : *block) {
            if (!is_simple(i, synchronises)) return false;
            stores |= isa<StoreInst>(i);
        }
    return stores;
}

class version_maker {
public:
    version_maker(loop_analyses const& of, synchronisation const& synchronises,
                  DataLayout const& layout, accesses_left& left)
        : m_of(of),
          m_evolution(of.evolution),
          m_loops(of.loops),
          m_dominators(of.dominators),
          m_synchronises(synchronises),
          m_layout(layout),
          m_left(left) {}

    bool make(Loop& loop, chosen_checks chosen) {
        unsigned const turns = m_evolution.getSmallConstantMaxTripCount(&loop);
        if (!fits(loop, m_loops, m_synchronises) || (turns != 0 && turns < k_fewest_turns))
            return false;
        repeated_loads repeated(loop, m_loops, m_dominators);
        for (access const& a : accesses_of(*loop.getHeader()->getParent(), chosen))
            if (loop.contains(a.at)) repeated.want_for(a);
        if (repeated.wanted().empty()) return false;
        repeated.copy_ahead();
        Value* const test = test_of(loop, repeated);
        if (test == nullptr) {
            m_evolution.forgetLoop(&loop);
            repeated.remove_copies();
            return false;
        }
        ValueToValueMapTy copies;
        copy_loop(loop, test, k_weight_of_usual_version, m_loops, m_dominators, &m_evolution,
                  copies);
        for (LoadInst* const load : repeated.loaded_ahead())
            m_left.insert(cast<Instruction>(static_cast<Value*>(copies[load])));
        repeated.replace();
        m_evolution.forgetAllLoops();
        return true;
    }

private:
    std::optional<byte_range> range_of(StoreInst& store, ValueToSCEVMapTy& values, Loop& loop,
                                       SCEV const* turns);
    std::optional<byte_ranges> ranges_of_stores(Loop& loop, ValueToSCEVMapTy& values,
                                                SCEV const* turns);
    byte_ranges ranges_of(repeated_loads const& repeated);
    void add(byte_ranges& all, byte_range const& r);
    Value* test_of(Loop& loop, repeated_loads const& repeated);

    SCEV const* behind(SCEV const* first, std::uint64_t bytes) {
        return m_evolution.getAddExpr(first, m_evolution.getConstant(first->getType(), bytes - 1));
    }

    loop_analyses const& m_of;
    ScalarEvolution& m_evolution;
    LoopInfo& m_loops;
    DominatorTree& m_dominators;
    synchronisation const& m_synchronises;
    DataLayout const& m_layout;
    accesses_left& m_left;
};

// Neighbours are compared as one.
void version_maker::add(byte_ranges& all, byte_range const& r) {
    for (byte_range& other : all) {
        auto const first = constant_difference(m_evolution, r.first, other.first);
        auto const last = constant_difference(m_evolution, r.last, other.last);
        if (!first || !last || std::abs(*first) > k_near || std::abs(*last) > k_near) continue;
        if (*first < 0) other.first = r.first;
        if (*last > 0) other.last = r.last;
        return;
    }
    all.push_back(r);
}

// What the store touches if its pointer is made of the copies. Nothing: that is not foreseen.
std::optional<byte_range> version_maker::range_of(StoreInst& store, ValueToSCEVMapTy& values,
                                                  Loop& loop, SCEV const* turns) {
    SCEV const* const address = SCEVParameterRewriter::rewrite(
        number_of(m_evolution, store.getPointerOperand()), m_evolution, values);
    std::uint64_t const bytes =
        m_layout.getTypeStoreSize(store.getValueOperand()->getType()).getKnownMinValue();
    if (m_of.is_known_ahead(address, loop)) return byte_range{address, behind(address, bytes)};
    auto const* const way = dyn_cast<SCEVAddRecExpr>(address);
    if (way == nullptr || way->getLoop() != &loop || !way->isAffine() ||
        !m_of.is_known_ahead(way->getStart(), loop))
        return std::nullopt;
    auto const* const step = dyn_cast<SCEVConstant>(way->getStepRecurrence(m_evolution));
    if (step == nullptr || step->getAPInt().abs().ugt(k_near)) return std::nullopt;
    SCEV const* const start = way->getStart();
    SCEV const* const end = m_evolution.getAddExpr(start, m_evolution.getMulExpr(turns, step));
    bool const goes_up = !step->getAPInt().isNegative();
    return byte_range{goes_up ? start : end, behind(goes_up ? end : start, bytes)};
}

std::optional<byte_ranges> version_maker::ranges_of_stores(Loop& loop, ValueToSCEVMapTy& values,
                                                           SCEV const* turns) {
    byte_ranges all;
    for (BasicBlock* const block : loop.blocks())
        for (Instruction& i : *block) {
            auto* const store = dyn_cast<StoreInst>(&i);
            if (store == nullptr) continue;
            auto const range = range_of(*store, values, loop, turns);
            if (!range) return std::nullopt;
            add(all, *range);
        }
    return all;
}

byte_ranges version_maker::ranges_of(repeated_loads const& repeated) {
    byte_ranges all;
    for (LoadInst* const load : repeated.wanted()) {
        SCEV const* const first =
            number_of(m_evolution, repeated.copy_of(load)->getPointerOperand());
        add(all, {first, behind(first, m_layout.getTypeStoreSize(load->getType()))});
    }
    return all;
}

// Whether no store can meet what was loaded ahead: then it stays as it is, and stores go where it
// says. Ranges must not go around the end of all addresses. Null: nobody can tell.
Value* version_maker::test_of(Loop& loop, repeated_loads const& repeated) {
    Instruction* const at = loop.getLoopPreheader()->getTerminator();
    IRBuilder<> builder(at);
    SCEV const* turns = m_evolution.getBackedgeTakenCount(&loop);
    if (!m_of.is_known_ahead(turns, loop) || m_evolution.getTypeSizeInBits(turns->getType()) > 64)
        return nullptr;
    turns = m_evolution.getTruncateOrZeroExtend(turns, builder.getInt64Ty());
    auto values = repeated.values(m_evolution);
    auto const stores = ranges_of_stores(loop, values, turns);
    byte_ranges const loads = ranges_of(repeated);
    if (!stores || stores->size() * loads.size() > k_most_comparisons) return nullptr;
    SCEVExpander expander(m_evolution, m_layout, "tulle.version");
    auto const value = [&](SCEV const* e) {
        Value* const made = expander.expandCodeFor(e, e->getType(), at);
        builder.SetInsertPoint(at);
        return builder.CreateFreeze(made);
    };
    SmallVector<range_values, 4> loaded;
    for (byte_range const& r : loads) loaded.push_back({value(r.first), value(r.last)});
    Value* holds =
        builder.CreateICmpULT(value(turns), builder.getInt64(k_most_bytes / std::uint64_t{k_near}));
    for (byte_range const& r : *stores) {
        range_values const stored{value(r.first), value(r.last)};
        holds = builder.CreateAnd(holds, builder.CreateICmpULE(stored.first, stored.last));
        for (range_values const& l : loaded)
            holds = builder.CreateAnd(
                holds, builder.CreateOr(builder.CreateICmpULT(l.last, stored.first),
                                        builder.CreateICmpUGT(l.first, stored.last)));
    }
    return holds;
}

} // namespace

bool make_loop_versions(Function& function, FunctionAnalysisManager& analyses,
                        synchronisation const& synchronises, chosen_checks chosen,
                        accesses_left& left) {
    if (analyses.getResult<LoopAnalysis>(function).empty()) return false;
    auto const of = loop_analyses::of(function, analyses);
    bool changed = of.simplify();
    version_maker maker(of, synchronises, function.getParent()->getDataLayout(), left);
    for (Loop* loop : of.loops.getLoopsInPreorder()) // as they are now
        changed |= maker.make(*loop, chosen);
    return changed;
}

} // namespace tulle::compiler
