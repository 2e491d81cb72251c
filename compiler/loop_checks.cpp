// SPDX-License-Identifier: Apache-2.0
#include "loop_checks.hpp"

#include "check_writer.hpp"
#include "loop_analyses.hpp"
#include "span.hpp"

#include <cstdlib>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

using spans = SmallVector<span, 8>;

// Loops that do not synchronise, of a form in which there is a place ahead of them.
class quiet_loops {
public:
    explicit quiet_loops(synchronisation const& synchronises) : m_synchronises(synchronises) {}

    bool operator()(Loop const& loop) {
        auto const [found, is_new] = m_known.insert({&loop, false});
        if (is_new) found->second = look_at(loop);
        return found->second;
    }

private:
    bool look_at(Loop const& loop) const {
        if (loop.getLoopPreheader() == nullptr || loop.getLoopLatch() == nullptr) return false;
        for (BasicBlock const* block : loop.blocks())
            for (Instruction const& i : *block)
                if (m_synchronises.may_happen_at(i)) return false;
        return true;
    }

    synchronisation const& m_synchronises;
    DenseMap<Loop const*, bool> m_known;
};

// Neighbouring fields share a check: ends that differ by a line at most.
bool merge(ScalarEvolution& evolution, span& into, span const& other) {
    if (into.how != other.how || !into.has_shape_of(other)) return false;
    auto const first = constant_difference(evolution, other.first, into.first);
    auto const last = constant_difference(evolution, other.last, into.last);
    constexpr std::int64_t most = TULLE_COHERENT_LINE;
    if (!first || !last || std::abs(*first) > most || std::abs(*last) > most) return false;
    if (*first < 0) into.first = other.first;
    if (*last > 0) into.last = other.last;
    into.is_touched &= other.is_touched;
    into.covered.append(other.covered);
    return true;
}

// What may be stored to may be loaded from.
bool absorb(ScalarEvolution& evolution, span& store, span const& load) {
    if (store.how != mode::store || load.how != mode::load || !store.has_shape_of(load))
        return false;
    auto const first = constant_difference(evolution, load.first, store.first);
    auto const last = constant_difference(evolution, load.last, store.last);
    if (!first || !last || *first < 0 || *last > 0) return false;
    store.covered.append(load.covered);
    return true;
}

void add(ScalarEvolution& evolution, spans& all, span const& s) {
    for (span& other : all)
        if (merge(evolution, other, s)) return;
    all.push_back(s);
}

void absorb_loads(ScalarEvolution& evolution, spans& all) {
    erase_if(all, [&](span const& load) {
        return any_of(all, [&](span& store) { return absorb(evolution, store, load); });
    });
}

struct bounds {
    Instruction* at;
    Value* first;
    Value* last;
    Value* stride;
    Value* more;
    std::uint64_t bytes; // of a row; 0: not known
    bool is_touched;
    mode how;
};

std::uint64_t bytes_of(ScalarEvolution& evolution, span const& s) {
    auto const length = constant_difference(evolution, s.last, s.first);
    return length && *length >= 0 && s.guards.empty() ? static_cast<std::uint64_t>(*length) + 1 : 0;
}

// The values of a span ahead of its loop. Where a guard fails it is empty.
bounds expand(ScalarEvolution& evolution, SCEVExpander& expander, span const& s) {
    Instruction* const at = s.loop->getLoopPreheader()->getTerminator();
    auto const value = [&](SCEV const* e) -> Value* {
        return e == nullptr ? nullptr : expander.expandCodeFor(e, e->getType(), at);
    };
    Value* const first = value(s.first);
    Value* last = value(s.last);
    IRBuilder<> builder(at);
    for (guard const& g : s.guards) {
        Value* const nothing = builder.CreateSub(first, builder.getInt64(1));
        last =
            builder.CreateSelect(g.condition, g.wanted ? last : nothing, g.wanted ? nothing : last);
    }
    return {at,
            first,
            last,
            value(s.stride),
            value(s.more),
            bytes_of(evolution, s),
            s.is_touched && s.guards.empty(),
            s.how};
}

void write(check_writer& writer, bounds const& b) {
    if (b.stride == nullptr)
        return writer.check_range(b.at, {b.first, b.last, b.how, b.bytes, b.is_touched});
    writer.check_rows(b.at, b.first, b.last, b.stride, b.more, b.how);
}

// All values come before all checks, which cut blocks apart.
void write_all(Function& function, ScalarEvolution& evolution, spans const& all) {
    Module& module = *function.getParent();
    SCEVExpander expander(evolution, module.getDataLayout(), "tulle.check");
    SmallVector<bounds, 8> values;
    for (span const& s : all) values.push_back(expand(evolution, expander, s));
    check_writer writer(module);
    for (bounds const& b : values) write(writer, b);
    for (span const& s : all)
        for (Instruction* i : s.covered) mark(*i);
}

} // namespace

bool check_ahead_of_loops(Function& function, FunctionAnalysisManager& analyses,
                          synchronisation const& synchronises, chosen_checks chosen,
                          accesses_left const& left) {
    if (analyses.getResult<LoopAnalysis>(function).empty()) return false;
    auto const of = loop_analyses::of(function, analyses);
    bool const changed = of.simplify();
    quiet_loops quiet(synchronises);
    span_finder finder(of.evolution, of.loops, of.dominators, quiet);
    spans all;
    for (access const& a : accesses_of(function, chosen))
        if (auto const found = left.count(a.at) == 0 ? finder.find(a) : std::nullopt)
            add(of.evolution, all, *found);
    absorb_loads(of.evolution, all);
    write_all(function, of.evolution, all);
    return changed || !all.empty();
}

} // namespace tulle::compiler
