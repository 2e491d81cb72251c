// SPDX-License-Identifier: Apache-2.0
#include "point_checks.hpp"

#include "known_bytes.hpp"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Module.h"

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

namespace {

constexpr std::int64_t k_line = TULLE_COHERENT_LINE;

// An access as bytes at a distance from a pointer that others may share.
struct placed_access {
    access const* origin;
    Value* base;
    std::int64_t first;
    std::int64_t last;
};

// Accesses of a block between two places where checks end to hold.
using stretch = SmallVector<placed_access, 8>;

struct planned_check {
    Instruction* at;
    Value* base;
    std::int64_t first;
    std::int64_t last;
    bool straddles;
    mode how;
};

class planner {
public:
    planner(Function& function, ArrayRef<access> accesses, synchronisation const& synchronises)
        : m_order(&function),
          m_layout(function.getParent()->getDataLayout()),
          m_synchronises(synchronises) {
        for (access const& a : accesses) m_wanted[a.at].push_back(place(a));
    }

    std::vector<planned_check> plan() {
        find_what_is_known();
        for (BasicBlock* block : m_order) plan_block(*block);
        return std::move(m_planned);
    }

private:
    placed_access place(access const& a) const {
        std::int64_t first = 0;
        Value* const base = GetPointerBaseWithConstantOffset(a.pointer, first, m_layout);
        return {&a, base, first, first + static_cast<std::int64_t>(a.bytes) - 1};
    }
    // Calls `found` with the accesses of each stretch, and `ended` after those that synchronisation
    // ends.
    template <typename Found, typename Ended>
    void walk(BasicBlock& block, Found const& found, Ended const& ended) const {
        stretch part;
        for (Instruction& i : block) {
            if (auto const wanted = m_wanted.find(&i); wanted != m_wanted.end())
                part.append(wanted->second);
            if (!m_synchronises.may_happen_at(i)) continue;
            found(part);
            ended();
            part.clear();
        }
        found(part);
    }
    known_bytes known_at_begin(BasicBlock& block) const;
    void find_what_is_known();
    void plan_block(BasicBlock& block);
    void plan_stretch(stretch const& part, known_bytes& known);
    void plan_base(Value* base, stretch const& part, mode how, known_bytes& known);

    ReversePostOrderTraversal<Function*> m_order;
    DataLayout const& m_layout;
    synchronisation const& m_synchronises;
    DenseMap<Instruction*, stretch> m_wanted;
    DenseMap<BasicBlock*, known_bytes> m_known_at_end;
    std::vector<planned_check> m_planned;
};

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

// Begins with the most that can hold; each pass over the blocks leaves less, until nothing changes.
void planner::find_what_is_known() {
    for (bool changed = true; changed;) {
        changed = false;
        for (BasicBlock* block : m_order) {
            known_bytes known = known_at_begin(*block);
            walk(
                *block,
                [&](stretch const& part) {
                    for (placed_access const& a : part)
                        known.add(a.base, a.first, a.last, a.origin->how);
                },
                [&] { known.clear(); });
            auto const known_before = m_known_at_end.find(block);
            if (known_before != m_known_at_end.end() && known_before->second == known) continue;
            m_known_at_end[block] = std::move(known);
            changed = true;
        }
    }
}

void planner::plan_block(BasicBlock& block) {
    known_bytes known = known_at_begin(block);
    walk(
        block, [&](stretch const& part) { plan_stretch(part, known); }, [&] { known.clear(); });
}

// Stores come first: who may store may load.
void planner::plan_stretch(stretch const& part, known_bytes& known) {
    SmallPtrSet<Value*, 8> seen;
    for (placed_access const& a : part) {
        if (!seen.insert(a.base).second) continue;
        plan_base(a.base, part, mode::store, known);
        plan_base(a.base, part, mode::load, known);
    }
}

// Neighbours share a check, which comes before all accesses by the pointer.
void planner::plan_base(Value* base, stretch const& part, mode how, known_bytes& known) {
    stretch unknown;
    Instruction* at = nullptr;
    for (placed_access const& a : part) {
        if (a.base != base) continue;
        if (at == nullptr) at = a.origin->at;
        if (a.origin->how == how && !known.has(base, a.first, a.last, how)) unknown.push_back(a);
    }
    stable_sort(unknown, [](auto const& a, auto const& b) { return a.first < b.first; });
    for (auto const* a = unknown.begin(); a != unknown.end();) {
        auto const* next = a + 1;
        std::int64_t last = a->last;
        for (; next != unknown.end() && std::max(last, next->last) - a->first < k_line; ++next)
            last = std::max(last, next->last);
        bool const is_one = next == a + 1 && !a->origin->may_straddle_lines();
        m_planned.push_back({at, base, a->first, last, !is_one, how});
        known.add(base, a->first, last, how);
        a = next;
    }
}

// What is checked by itself: a lane of a gather, and more than a line.
bool is_checked_alone(access const& a) { return a.lane >= 0 || a.bytes > TULLE_COHERENT_LINE; }

void check_alone(access const& a, check_writer& writer) {
    IRBuilder<> builder(a.at);
    Value* const pointer =
        a.lane < 0 ? a.pointer
                   : builder.CreateExtractElement(a.pointer, static_cast<std::uint64_t>(a.lane));
    if (a.bytes <= TULLE_COHERENT_LINE)
        return writer.check_bytes(a.at, pointer, 0, a.bytes, a.may_straddle_lines(), a.how);
    Value* const first = writer.address_of(builder, pointer);
    Value* const last = builder.CreateAdd(first, builder.getInt64(a.bytes - 1));
    writer.check_range(a.at, first, last, a.how);
}

} // namespace

void check_accesses(Function& function, ArrayRef<access> accesses,
                    synchronisation const& synchronises, check_writer& writer) {
    std::vector<access> shared;
    copy_if(accesses, std::back_inserter(shared),
            [](access const& a) { return a.how != mode::atomic && !is_checked_alone(a); });
    for (planned_check const& check : planner(function, shared, synchronises).plan())
        writer.check_bytes(check.at, check.base, check.first,
                           static_cast<std::uint64_t>(check.last - check.first + 1),
                           check.straddles, check.how);
    for (access const& a : accesses)
        if (a.how != mode::atomic && is_checked_alone(a)) check_alone(a, writer);
}

} // namespace tulle::compiler
