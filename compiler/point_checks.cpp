// SPDX-License-Identifier: Apache-2.0
#include "point_checks.hpp"

#include "known_bytes.hpp"

#include <algorithm>
#include <climits>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::int64_t k_line = TULLE_COHERENT_LINE;
// Bytes that lie in as many lines as a check may have, wherever they begin.
constexpr std::int64_t k_most_checked = (k_most_lines_of_check - 1) * k_line + 1;
constexpr std::size_t k_most_followers = 100; // by one origin; there are as many pairs as squares
constexpr int k_most_passes = 50;
constexpr std::size_t k_most_known = 1'000'000; // bytes, at the ends of all blocks
constexpr std::int64_t k_most_bytes_of_array = 64 * k_line;

// An access as bytes at a distance from an origin that others may share. If its own bytes are not
// known, all of [check_first, check_last] are checked, at most a line.
struct placed_access {
    access const* what;
    origin const* base;
    std::int64_t first;
    std::int64_t last;
    std::int64_t check_first;
    std::int64_t check_last;
    // Where it is at any time, as the element of an array whose index has bounds; null: anywhere.
    origin const* array = nullptr;
    std::int64_t array_first = 0;
    std::int64_t array_last = 0;
};

// Accesses of a block between two places where checks end to hold.
using stretch = SmallVector<placed_access, 8>;

struct planned_check {
    Instruction* at;
    checked_bytes what;
};

class planner {
public:
    planner(Function& function, ArrayRef<access> accesses, synchronisation const& synchronises,
            ScalarEvolution* evolution)
        : m_order(&function),
          m_origins(function.getParent()->getDataLayout()),
          m_synchronises(synchronises),
          m_evolution(evolution) {
        for (access const& a : accesses) m_wanted[a.at].push_back(place_of(a));
        if (!function.hasOptNone()) widen(function);
    }

    std::vector<planned_check> plan() {
        if (!find_what_is_known(k_most_passes, &planner::plan_stretch)) {
            narrow();
            // Each pass leaves less. Of a function that is too large nothing is known from one
            // block to the next.
            if (!find_what_is_known(INT_MAX, &planner::know_accessed)) m_known_at_end.clear();
        }
        m_planned.clear();
        for (BasicBlock* block : m_order) {
            known_bytes known = known_at_begin(*block);
            walk_stretches(*block, known, &planner::plan_stretch);
        }
        return std::move(m_planned);
    }

private:
    placed_access place_of(access const& a) {
        place const found = m_origins.find(a.pointer());
        std::int64_t const last = found.offset + static_cast<std::int64_t>(a.bytes) - 1;
        placed_access made{&a, found.from, found.offset, last, found.offset, last};
        if (m_evolution != nullptr) find_array(made);
        return made;
    }
    void find_array(placed_access& a);
    static bool is_known(known_bytes const& known, placed_access const& a) {
        mode const how = a.what->how;
        return known.has(a.base, a.first, a.last, how) ||
               (a.array != nullptr && known.has_all(a.array, a.array_first, a.array_last, how));
    }
    void widen(Function& function);
    static bool take_along(DominatorTree const& dominators, placed_access& a,
                           placed_access const& next);
    void narrow();
    using step = void (planner::*)(stretch const& part, known_bytes& known);
    // Takes the step with each stretch; what was known ends with synchronisation.
    void walk_stretches(BasicBlock& block, known_bytes& known, step take) {
        stretch part;
        for (Instruction& i : block) {
            if (auto const wanted = m_wanted.find(&i); wanted != m_wanted.end())
                part.append(wanted->second);
            if (!m_synchronises.may_happen_at(i)) continue;
            (this->*take)(part, known);
            known.clear();
            part.clear();
        }
        (this->*take)(part, known);
    }
    known_bytes known_at_begin(BasicBlock& block) const;
    [[nodiscard]] bool find_what_is_known(int most_passes, step take);
    void know_accessed(stretch const& part, known_bytes& known);
    void plan_stretch(stretch const& part, known_bytes& known);
    void plan_base(origin const* base, stretch const& part, mode how, known_bytes& known);

    ReversePostOrderTraversal<Function*> m_order;
    origins m_origins;
    synchronisation const& m_synchronises;
    ScalarEvolution* m_evolution;
    DenseMap<Instruction*, stretch> m_wanted;
    DenseMap<BasicBlock*, known_bytes> m_known_at_end;
    std::vector<planned_check> m_planned;
};

void planner::find_array(placed_access& a) {
    SCEV const* const address = m_evolution->getSCEV(a.what->pointer());
    auto const* const base = dyn_cast<SCEVUnknown>(m_evolution->getPointerBase(address));
    if (base == nullptr || base == address) return;
    SCEV const* const way = m_evolution->getMinusSCEV(address, base);
    if (isa<SCEVCouldNotCompute>(way)) return;
    ConstantRange const bounds = m_evolution->getSignedRange(way);
    if (bounds.getBitWidth() != 64 || bounds.getSignedMin().slt(-k_most_bytes_of_array) ||
        bounds.getSignedMax().sgt(k_most_bytes_of_array))
        return;
    place const array = m_origins.find(base->getValue());
    a.array = array.from;
    a.array_first = array.offset + bounds.getSignedMin().getSExtValue();
    a.array_last = array.offset + bounds.getSignedMax().getSExtValue() + (a.last - a.first);
}

known_bytes planner::known_at_begin(BasicBlock& block) const {
    known_bytes known;
    bool is_first = true;
    for (BasicBlock* before : predecessors(&block)) {
        auto const found = m_known_at_end.find(before);
        if (found == m_known_at_end.end()) continue; // not seen yet, or never reached
        if (is_first)
            known = found->second;
        else
            known.keep_common(found->second);
        is_first = false;
    }
    known.forget_values_of(block);
    return known;
}

// A check may name more than the access touches. So an access takes those along that are by the
// same origin, come after it on some way, in blocks that it dominates, and lie within a line of it.
// Those need take nothing along themselves.
void planner::widen(Function& function) {
    DominatorTree const dominators(function);
    std::map<std::pair<origin const*, mode>, SmallVector<placed_access*, 8>> by_origin;
    for (BasicBlock* block : m_order) {
        for (Instruction& i : *block) {
            auto const wanted = m_wanted.find(&i);
            if (wanted == m_wanted.end()) continue;
            for (placed_access& a : wanted->second) by_origin[{a.base, a.what->how}].push_back(&a);
        }
    }
    for (auto& [of, all] : by_origin) {
        if (all.size() > k_most_followers) continue;
        SmallPtrSet<placed_access const*, 8> taken;
        for (auto* a = all.begin(); a != all.end(); ++a) {
            for (auto* next = a + 1; next != all.end() && taken.count(*a) == 0; ++next)
                if (take_along(dominators, **a, **next)) taken.insert(*next);
        }
    }
}

bool planner::take_along(DominatorTree const& dominators, placed_access& a,
                         placed_access const& next) {
    std::int64_t const first = std::min(a.check_first, next.first);
    std::int64_t const last = std::max(a.check_last, next.last);
    bool const is_near = last - first < k_line;
    if (!is_near || !dominators.dominates(a.what->at->getParent(), next.what->at->getParent()))
        return false;
    a.check_first = first;
    a.check_last = last;
    return true;
}

void planner::narrow() {
    m_known_at_end.clear();
    for (auto& [at, wanted] : m_wanted) {
        for (placed_access& a : wanted) {
            a.check_first = a.first;
            a.check_last = a.last;
        }
    }
}

// Begins with the most that can hold; each pass over the blocks leaves less, until nothing changes.
// False: it goes on changing, as it may where checks are wide: an access whose bytes are known
// leaves less known than one whose bytes are not; or too much is known. The step is that by which
// the checks are planned, so that nothing is taken for known that no check names; or one that knows
// less.
bool planner::find_what_is_known(int most_passes, step take) {
    int passes = 0;
    std::size_t all_known = 0;
    for (bool changed = true; changed; ++passes) {
        if (passes == most_passes) return false;
        changed = false;
        for (BasicBlock* block : m_order) {
            known_bytes known = known_at_begin(*block);
            walk_stretches(*block, known, take);
            auto const known_before = m_known_at_end.find(block);
            if (known_before != m_known_at_end.end()) {
                if (known_before->second == known) continue;
                all_known -= known_before->second.count();
            }
            all_known += known.count();
            if (all_known > k_most_known) return false;
            m_known_at_end[block] = std::move(known);
            changed = true;
        }
        m_planned.clear();
    }
    return true;
}

// What is accessed has been checked, by whatever check.
void planner::know_accessed(stretch const& part, known_bytes& known) {
    for (placed_access const& a : part) known.add(a.base, a.first, a.last, a.what->how);
}

// Stores come first: who may store may load.
void planner::plan_stretch(stretch const& part, known_bytes& known) {
    SmallPtrSet<origin const*, 8> seen;
    for (placed_access const& a : part) {
        if (!seen.insert(a.base).second) continue;
        plan_base(a.base, part, mode::store, known);
        plan_base(a.base, part, mode::load, known);
    }
}

// Neighbours share a check, which comes before all accesses by the pointer. Where nothing is
// touched between two, they are at most a line apart.
void planner::plan_base(origin const* base, stretch const& part, mode how, known_bytes& known) {
    stretch unknown;
    placed_access const* by = nullptr; // the pointer that is there first
    for (placed_access const& a : part) {
        if (a.base != base) continue;
        if (by == nullptr) by = &a;
        if (a.what->how == how && !is_known(known, a)) unknown.push_back(a);
    }
    stable_sort(unknown,
                [](auto const& a, auto const& b) { return a.check_first < b.check_first; });
    for (auto const* a = unknown.begin(); a != unknown.end();) {
        auto const* next = a + 1;
        std::int64_t last = a->check_last;
        for (; next != unknown.end() && next->check_first - last <= k_line &&
               std::max(last, next->check_last) - a->check_first < k_most_checked;
             ++next)
            last = std::max(last, next->check_last);
        bool const is_whole = a->check_first == a->first && last == a->last;
        bool const is_one = next == a + 1 && is_whole && !a->what->may_straddle_lines();
        m_planned.push_back({by->what->at,
                             {by->what->pointer(), a->check_first - by->first,
                              static_cast<std::uint64_t>(last - a->check_first + 1), !is_one,
                              by->what->is_masked, how}});
        for (std::int64_t at = a->check_first; at < last; at += k_line)
            known.add(base, at, std::min(at + k_line, last), how);
        known.add(base, a->check_first, last, how);
        a = next;
    }
}

// What is checked by itself: a lane of a gather, and more than a line.
bool is_checked_alone(access const& a) { return a.lane >= 0 || a.bytes > TULLE_COHERENT_LINE; }

void check_alone(access const& a, check_writer& writer) {
    IRBuilder<> builder(a.at);
    Value* const pointer =
        a.lane < 0 ? a.pointer()
                   : builder.CreateExtractElement(a.pointer(), static_cast<std::uint64_t>(a.lane));
    if (a.bytes <= TULLE_COHERENT_LINE)
        return writer.check_bytes(
            a.at, {pointer, 0, a.bytes, a.may_straddle_lines(), a.is_masked, a.how});
    Value* const first = writer.address_of(builder, pointer);
    Value* const last = builder.CreateAdd(first, builder.getInt64(a.bytes - 1));
    writer.check_range(a.at, {first, last, a.how, a.bytes, !a.is_masked});
}

} // namespace

void check_accesses(Function& function, ArrayRef<access> accesses,
                    synchronisation const& synchronises, ScalarEvolution* evolution,
                    check_writer& writer) {
    std::vector<access> shared;
    copy_if(accesses, std::back_inserter(shared),
            [](access const& a) { return a.how != mode::atomic && !is_checked_alone(a); });
    for (planned_check const& check : planner(function, shared, synchronises, evolution).plan())
        writer.check_bytes(check.at, check.what);
    for (access const& a : accesses)
        if (a.how != mode::atomic && is_checked_alone(a)) check_alone(a, writer);
}

} // namespace tulle::compiler
