// SPDX-License-Identifier: Apache-2.0
// Accesses to tables in loops: no loop foresees the index, but it has bounds, as it is masked, the
// rest of a division, or of a narrow type. Counting and sorting by digits do this.
#pragma once

#include "check_writer.hpp"
#include "loop_analyses.hpp"
#include "span.hpp"

#include "llvm/ADT/DenseMap.h"

namespace tulle::compiler {

// Finds the whole table for an access, to be checked ahead of the loop. That is worth while where
// the loop has as many turns as the table has elements, which is the guard of the span: where it
// does not hold the access is to be checked by itself (element_checks).
class table_finder {
public:
    using is_quiet = llvm::function_ref<bool(llvm::Loop const&)>;

    table_finder(loop_analyses const& of, llvm::DataLayout const& layout, is_quiet quiet)
        : m_of(of), m_layout(layout), m_quiet(quiet) {}

    // None: the access is in no loop, or its index has no bounds that are known ahead of it. What
    // has been computed there is not used then.
    std::optional<span> find(access const& a);
    [[nodiscard]] bool has_computed() const { return !m_known.empty(); }
    [[nodiscard]] bool comes_in_each_turn(access const& a, llvm::Loop const& loop) const {
        return m_of.dominators.dominates(a.at->getParent(), loop.getLoopLatch());
    }

private:
    // Both known ahead of the loop. The index is neither negative nor greater than `most` if what
    // is named beside it holds; null: in any case.
    struct bound {
        llvm::Value* most;
        llvm::Value* holds;
    };
    struct parts {
        llvm::SCEV const* start;
        llvm::SCEV const* index;
        std::uint64_t size; // of an element
    };

    std::optional<parts> take_apart(llvm::Value* pointer, llvm::Loop const& loop);
    std::optional<parts> take_product_apart(llvm::SCEV const* start, llvm::SCEV const* changing);
    std::optional<bound> bound_of(llvm::SCEV const* index, llvm::Value* pointer,
                                  llvm::Loop const& loop);
    std::optional<bound> bound_of(llvm::Value* index, llvm::Loop const& loop, int depth);
    std::optional<bound> bound_of_mask(llvm::Value* mask, llvm::Loop const& loop);
    std::optional<bound> guarded_bound_of(llvm::SCEV const* index, llvm::Value* pointer,
                                          llvm::Loop const& loop);
    bool is_known_ahead(llvm::Value* value, llvm::Loop const& loop) const;

    loop_analyses const& m_of;
    llvm::DataLayout const& m_layout;
    is_quiet m_quiet;
    // So that accesses by the same index have the same guard.
    llvm::DenseMap<std::pair<llvm::SCEV const*, llvm::Loop const*>, std::optional<bound>> m_known;
};

// Accesses to tables, each to be checked where it is if the guard of its span does not hold. Those
// of a turn to one element share the check. Of a loop that is short enough there are two versions:
// where all guards hold it has none of these checks, nor looks at guards.
class element_checks {
public:
    explicit element_checks(loop_analyses const& of) : m_of(of) {}

    // An access that comes in each turn.
    void add(access const& a, span const& table);
    // One that may not, and has to have a check beside it that does: whether there is one.
    bool join(access const& a, span const& table);
    void write(check_writer& writer);

private:
    struct element {
        access by; // the pointer is there before the others
        llvm::SCEV const* address;
        std::int64_t first, last; // bytes to be checked, from the address on
        llvm::Loop const* loop;
        llvm::Value* holds;
        mode how;
        bool is_one;
        bool is_always_checked = false; // no guard is asked
    };

    element element_of(access const& a, span const& table);
    bool comes_before(element const& e, element const& other) const {
        return m_of.dominators.dominates(e.by.at, other.by.at);
    }
    bool share(element& e, element const& other);
    void make_versions();

    loop_analyses const& m_of;
    llvm::SmallVector<element, 8> m_all;
};

} // namespace tulle::compiler
