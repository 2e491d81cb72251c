// SPDX-License-Identifier: Apache-2.0
#include "loop_checks.hpp"

#include "check_writer.hpp"
#include "known_bytes.hpp"
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

std::uint64_t bytes_of(ScalarEvolution& evolution, span const& s) {
    auto const length = constant_difference(evolution, s.last, s.first);
    return length && *length >= 0 ? static_cast<std::uint64_t>(*length) + 1 : 0;
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

// Bytes by one pointer that are touched ahead of a loop, and then by it: one check is ahead of all.
struct touched_array {
    access const* by;   // comes first
    std::int64_t first; // from where that one begins
    std::uint64_t bytes;
    mode how;
    SCEV const* begin; // as a number
    Loop const* loop;
    SmallVector<Instruction*, 16> covered;
};

// What the function does on its only way to a loop, in the block ahead of it, behind which nothing
// synchronises. Where that touches each line of a small array, a check of the array ahead of the
// loop would be one too many, and those of single lines as well. Not in a loop around it, ahead of
// which the checks may go.
class arrays_ahead {
public:
    arrays_ahead(loop_analyses const& of, ArrayRef<access> accesses,
                 synchronisation const& synchronises)
        : m_of(of), m_accesses(accesses), m_synchronises(synchronises) {}

    // True: an array has what the span covers.
    bool take(span const& s) {
        std::uint64_t const bytes = bytes_of(m_of.evolution, s);
        if (s.stride != nullptr || !s.guards.empty() || bytes == 0 ||
            m_of.loops.getLoopFor(s.loop->getLoopPreheader()) != nullptr)
            return false;
        std::size_t const array = array_of(s, bytes);
        if (array == m_found.size()) return false;
        m_found[array].covered.append(s.covered);
        return true;
    }
    // An access that comes in some turns only: covered where its index has bounds.
    bool take_rare(access const& a) {
        SCEV const* const address = number_of(m_of.evolution, a.pointer());
        if (a.how == mode::atomic || a.lane >= 0 || isa<SCEVCouldNotCompute>(address)) return false;
        for (touched_array& array : m_found) {
            bool const allows = a.how == mode::load || a.how == array.how;
            if (!allows || !array.loop->contains(a.at) || !lies_in(array, address, a.bytes))
                continue;
            array.covered.push_back(a.at);
            return true;
        }
        return false;
    }
    bool has_any() const { return !m_found.empty(); }
    void write(check_writer& writer) const {
        for (touched_array const& a : m_found) {
            IRBuilder<> builder(a.by->at);
            Value* const first = builder.CreateAdd(writer.address_of(builder, a.by->pointer()),
                                                   builder.getInt64(a.first));
            Value* const last = builder.CreateAdd(first, builder.getInt64(a.bytes - 1));
            writer.check_range(a.by->at, {first, last, a.how, a.bytes, true});
            for (Instruction* i : a.covered) mark(*i);
        }
    }

private:
    static constexpr std::int64_t k_line = TULLE_COHERENT_LINE;
    static constexpr std::int64_t k_most_bytes = 7 * k_line; // whose states are in a word

    bool lies_in(touched_array const& array, SCEV const* address, std::uint64_t bytes) const {
        SCEV const* const way = m_of.evolution.getMinusSCEV(address, array.begin);
        if (isa<SCEVCouldNotCompute>(way) || bytes > array.bytes) return false;
        ConstantRange const bounds = m_of.evolution.getSignedRange(way);
        return bounds.getSignedMin().isNonNegative() &&
               bounds.getSignedMax().ule(array.bytes - bytes);
    }
    // None: as many as there are.
    std::size_t array_of(span const& s, std::uint64_t bytes) {
        for (std::size_t k = 0; k < m_found.size(); ++k) {
            touched_array const& known = m_found[k];
            auto const first = constant_difference(m_of.evolution, s.first, known.begin);
            if (known.loop == s.loop && first && *first >= 0 &&
                static_cast<std::uint64_t>(*first) + bytes <= known.bytes &&
                (s.how == mode::load || s.how == known.how))
                return k;
        }
        for (mode how : {mode::store, mode::load}) {
            if (s.how == mode::store && how == mode::load) break;
            auto made = find(s, static_cast<std::int64_t>(bytes) - 1, how);
            if (!made) continue;
            m_found.push_back(std::move(*made));
            return m_found.size() - 1;
        }
        return m_found.size();
    }
    std::optional<touched_array> find(span const& s, std::int64_t end, mode how) const {
        touched_array made{nullptr, 0, 0, how, nullptr, s.loop, {}};
        known_bytes known;
        std::int64_t low = 0;
        std::int64_t high = end;
        std::int64_t of_first = 0;
        for (access const& a : m_accesses) {
            if (a.at->getParent() != s.loop->getLoopPreheader() || !counts(a)) continue;
            auto const first = distance(s, a);
            if (!first || *first < -k_line || *first > end + k_line) continue;
            if (how == mode::load && a.how == mode::store) continue; // has a check of its own
            std::int64_t const last = *first + static_cast<std::int64_t>(a.bytes) - 1;
            known.add(nullptr, *first, last, a.how);
            low = std::min(low, *first);
            high = std::max(high, last);
            if (made.by == nullptr) made.by = &a;
            if (made.by == &a) of_first = *first;
            made.covered.push_back(a.at);
        }
        if (high - low >= k_most_bytes || !known.has_all(nullptr, low, high, how))
            return std::nullopt;
        made.first = low - of_first;
        made.begin = m_of.evolution.getAddExpr(
            s.first,
            m_of.evolution.getConstant(s.first->getType(), static_cast<std::uint64_t>(low), true));
        made.bytes = static_cast<std::uint64_t>(high - low) + 1;
        return made;
    }
    bool counts(access const& a) const {
        if (a.how == mode::atomic || a.lane >= 0 || a.is_masked || a.bytes > TULLE_COHERENT_LINE)
            return false;
        for (Instruction const* i = a.at; i != nullptr; i = i->getNextNode())
            if (m_synchronises.may_happen_at(*i)) return false;
        return none_of(m_found,
                       [&a](touched_array const& of) { return is_contained(of.covered, a.at); });
    }
    std::optional<std::int64_t> distance(span const& s, access const& a) const {
        SCEV const* const address = number_of(m_of.evolution, a.pointer());
        if (isa<SCEVCouldNotCompute>(address)) return std::nullopt;
        return constant_difference(m_of.evolution, address, s.first);
    }

    loop_analyses const& m_of;
    ArrayRef<access> m_accesses;
    synchronisation const& m_synchronises;
    std::vector<touched_array> m_found;
};

class loop_planner {
public:
    loop_planner(loop_analyses const& of, DataLayout const& layout, quiet_loops& quiet,
                 arrays_ahead& ahead)
        : m_of(of),
          m_ahead(ahead),
          m_layout(layout),
          m_finder(of, quiet),
          m_tables(of, layout, quiet),
          m_elements(of) {}

    void add(access const& a) {
        auto const found = m_finder.find(a);
        if (!found)
            m_others.push_back(a);
        else if (!m_ahead.take(*found))
            add_to(m_spans, m_of.evolution, *found);
    }
    // Whether the function has changed.
    bool write(check_writer& writer) {
        erase_if(m_others, [this](access const& a) { return m_ahead.take_rare(a); });
        add_tables();
        absorb_loads(m_of.evolution, m_spans);
        write_spans(writer);
        m_ahead.write(writer);
        m_elements.write(writer);
        return !m_spans.empty() || m_ahead.has_any() || m_tables.has_computed();
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
    arrays_ahead& m_ahead;
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
    std::vector<access> const accesses = accesses_of(function, chosen);
    arrays_ahead ahead(of, accesses, synchronises);
    loop_planner plan(of, function.getParent()->getDataLayout(), quiet, ahead);
    for (access const& a : accesses)
        if (left.count(a.at) == 0) plan.add(a);
    check_writer writer(*function.getParent());
    return plan.write(writer) || changed;
}

} // namespace tulle::compiler
