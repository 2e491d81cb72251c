// SPDX-License-Identifier: Apache-2.0
#include "loop_checks.hpp"

#include "check_writer.hpp"
#include "loop_analyses.hpp"
#include "span.hpp"
#include "table_accesses.hpp"

#include <cstdlib>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
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

void add_to(spans& all, ScalarEvolution& evolution, span const& s) {
    for (span& other : all)
        if (merge(evolution, other, s)) return;
    all.push_back(s);
}

void absorb_loads(ScalarEvolution& evolution, spans& all) {
    SmallPtrSet<span const*, 8> absorbed;
    for (span const& load : all)
        if (any_of(all, [&](span& store) { return absorb(evolution, store, load); }))
            absorbed.insert(&load);
    spans left;
    for (span const& s : all)
        if (absorbed.count(&s) == 0) left.push_back(s);
    all = std::move(left);
}

struct bounds {
    Instruction* at;
    Value* first;
    Value* last;
    Value* stride;
    Value* more;
    Value* holds;        // whether there is anything; null: there is
    std::uint64_t bytes; // of a row; 0: not known
    bool is_touched;
    mode how;
};

std::uint64_t bytes_of(ScalarEvolution& evolution, span const& s) {
    auto const length = constant_difference(evolution, s.last, s.first);
    return length && *length >= 0 ? static_cast<std::uint64_t>(*length) + 1 : 0;
}

// Guards of inner loops may be anything where one of an outer loop fails.
Value* all_hold(IRBuilder<>& builder, ArrayRef<guard> guards) {
    Value* all = nullptr;
    for (guard const& g : guards) {
        Value* const holds = g.wanted ? g.condition : builder.CreateNot(g.condition);
        all = all == nullptr ? holds : builder.CreateLogicalAnd(holds, all);
    }
    return all == nullptr ? nullptr : builder.CreateFreeze(all);
}

// The values of a span ahead of its loop.
bounds expand(ScalarEvolution& evolution, SCEVExpander& expander, span const& s) {
    Instruction* const at = s.loop->getLoopPreheader()->getTerminator();
    auto const value = [&](SCEV const* e) -> Value* {
        return e == nullptr ? nullptr : expander.expandCodeFor(e, e->getType(), at);
    };
    Value* const first = value(s.first);
    Value* const last = value(s.last);
    IRBuilder<> builder(at);
    return {at,
            first,
            last,
            value(s.stride),
            value(s.more),
            all_hold(builder, s.guards),
            bytes_of(evolution, s),
            s.is_touched,
            s.how};
}

void write_check(check_writer& writer, bounds const& b) {
    Instruction* const at = b.holds == nullptr ? b.at : writer.when(b.holds, b.at, false);
    if (b.stride == nullptr)
        return writer.check_range(at, {b.first, b.last, b.how, b.bytes, b.is_touched});
    writer.check_rows(at, b.first, b.last, b.stride, b.more, b.how);
}

class loop_planner {
public:
    loop_planner(loop_analyses const& of, DataLayout const& layout, quiet_loops& quiet)
        : m_of(of),
          m_layout(layout),
          m_finder(of, quiet),
          m_tables(of, layout, quiet),
          m_elements(of) {}

    void add(access const& a) {
        if (auto const found = m_finder.find(a))
            add_to(m_spans, m_of.evolution, *found);
        else
            m_others.push_back(a);
    }
    // Whether the function has changed.
    bool write(check_writer& writer) {
        add_tables();
        absorb_loads(m_of.evolution, m_spans);
        write_spans(writer);
        m_elements.write(writer);
        return !m_spans.empty() || m_tables.has_computed();
    }

private:
    // One that does not come in each turn may be covered by what is checked for one that does.
    void add_tables() {
        std::vector<std::pair<access, span>> rare;
        for (access const& a : m_others) {
            auto const table = m_tables.find(a);
            if (!table) continue;
            if (!m_tables.comes_in_each_turn(a, *table->loop)) {
                rare.push_back({a, *table});
                continue;
            }
            m_elements.add(a, *table);
            add_to(m_spans, m_of.evolution, *table);
        }
        for (auto const& [a, table] : rare)
            if (m_elements.join(a, table)) add_to(m_spans, m_of.evolution, table);
    }
    // All values come before all checks, which cut blocks apart.
    void write_spans(check_writer& writer) const {
        SCEVExpander expander(m_of.evolution, m_layout, "tulle.check");
        SmallVector<bounds, 8> values;
        for (span const& s : m_spans) values.push_back(expand(m_of.evolution, expander, s));
        for (bounds const& b : values) write_check(writer, b);
        for (span const& s : m_spans)
            for (Instruction* i : s.covered) mark(*i);
    }

    loop_analyses const& m_of;
    DataLayout const& m_layout;
    span_finder m_finder;
    table_finder m_tables;
    element_checks m_elements;
    std::vector<access> m_others;
    spans m_spans;
};

} // namespace

bool check_ahead_of_loops(Function& function, FunctionAnalysisManager& analyses,
                          synchronisation const& synchronises, chosen_checks chosen,
                          accesses_left const& left) {
    if (analyses.getResult<LoopAnalysis>(function).empty()) return false;
    auto const of = loop_analyses::of(function, analyses);
    bool const changed = of.simplify();
    quiet_loops quiet(synchronises);
    loop_planner plan(of, function.getParent()->getDataLayout(), quiet);
    for (access const& a : accesses_of(function, chosen))
        if (left.count(a.at) == 0) plan.add(a);
    check_writer writer(*function.getParent());
    return plan.write(writer) || changed;
}

} // namespace tulle::compiler
